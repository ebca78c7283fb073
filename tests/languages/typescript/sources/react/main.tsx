// Rows 34, 35: hooks, contexts, components as classes and functions.
import React, { createContext, forwardRef, memo, useCallback, useContext, useEffect, useMemo, useReducer, useRef, useState, lazy, Suspense } from "react";
import * as UI from "./ui";
class Store {
  load(): void {}
}
const StoreContext = createContext<Store>(new Store());
function useStore(): Store {
  return useContext(StoreContext);
}
const Fancy = forwardRef<HTMLDivElement, { onPick(s: Store): void }>((props, ref) => {
  const store = useStore();
  // -> main.tsx#useStore
  store.load();
  // -> main.tsx#Store.load
  return <div ref={ref} onClick={() => props.onPick(store)} />;
});
const Row = memo(({ label }: { label: string }) => <UI.Cell>{label}</UI.Cell>);
// -> ui.tsx#Cell
const Inner = React.memo(function InnerImpl() {
  return <Row label="x" />;
  // -> main.tsx#Row
});
const Lazy = lazy(() => import("./ui"));
type State = { store: Store };
function reducer(state: State, action: { type: string }): State {
  state.store.load();
  // -> main.tsx#Store.load
  return state;
}
export const App: React.FC<{ store: Store }> = ({ store }) => {
  const [value, setValue] = useState(new Store());
  value.load();
  // -> main.tsx#Store.load
  const [typed] = useState<Store | null>(null);
  typed?.load();
  // -> main.tsx#Store.load
  const [lazyState] = useState(() => new Store());
  lazyState.load();
  // -> main.tsx#Store.load
  const ref = useRef<Store>(null);
  ref.current?.load();
  // -> main.tsx#Store.load
  const ctx = useContext(StoreContext);
  ctx.load();
  // -> main.tsx#Store.load
  const made = useMemo(() => new Store(), []);
  made.load();
  // -> main.tsx#Store.load
  const click = useCallback(() => helper(), []);
  // -> main.tsx#helper
  click();
  // -> main.tsx#App.click
  const [state, dispatch] = useReducer(reducer, { store });
  state.store.load();
  // -> main.tsx#Store.load
  useEffect(() => {
    helper();
    // -> main.tsx#helper
    return () => cleanup();
    // -> main.tsx#cleanup
  }, []);
  store.load();
  // -> main.tsx#Store.load
  const items = [1].map((i) => <Row key={i} label="x" />);
  // -> main.tsx#Row
  const Comp = store ? Row : Inner;
  return (
    <StoreContext.Provider value={store}>
      <Suspense fallback={<Row label="y" />}>
        <Fancy onPick={(s) => s.load()} />
        <Inner />
        <Comp label="x" />
        <UI.Panel.Body render={() => <UI.Cell>x</UI.Cell>} />
        {store && <Row label="z" />}
        <Klass store={store} onDone={(s) => s.load()} />
      </Suspense>
    </StoreContext.Provider>
  );
};
class Klass extends React.Component<{ store: Store; onDone(s: Store): void }, { open: Store }> {
  state = { open: new Store() };
  private onClick = () => {
    this.props.store.load();
    // -> main.tsx#Store.load
    this.state.open.load();
    // -> main.tsx#Store.load
  };
  componentDidMount(): void {
    this.onClick();
    // -> main.tsx#Klass.onClick
  }
  render() {
    const { store } = this.props;
    store.load();
    // -> main.tsx#Store.load
    return this.renderRow();
    // -> main.tsx#Klass.renderRow
  }
  renderRow() {
    return <button onClick={this.onClick} />;
    // => main.tsx#Klass.onClick
  }
}
function helper(): void {}
function cleanup(): void {}
function withStore<P extends object>(C: React.ComponentType<P>) {
  return function Wrapped(props: P) {
    return <C {...props} />;
    // -> main.tsx#helperComponent
  };
}
function helperComponent() {
  return null;
}
const WithStore = withStore(helperComponent);
export const page = <WithStore />;
// -> main.tsx#withStore.Wrapped
const styled = { Box: (p: {}) => <div /> };
export const boxed = <styled.Box />;
// -> main.tsx#styled.Box
export const Wrapped = ({ store }: React.PropsWithChildren<{ store: Store }>) => {
  const held: React.RefObject<Store> = useRef(null);
  held.current?.load();
  // -> main.tsx#Store.load
  store.load();
  // -> main.tsx#Store.load
  return null;
};
