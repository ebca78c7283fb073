// Rows 34, 35: a capitalised or dotted tag is a call; `memo` passes the component through.
import { memo } from "react";
import * as ui from "./ui";

function Row({ onPick }: { onPick: () => void }) {
  onPick();
  // -> main.tsx#pick
  return <tr />;
}
const Memoised = memo(function Inner() {
  return <td>{cell()}</td>;
  // -> main.tsx#cell [lexical]
});
function cell(): string {
  return "";
}
function pick(): void {}
function div(): void {}
class Panel {
  render() {
    return <></>;
  }
}

export function Table() {
  const row = <Row onPick={pick} />;
  // -> main.tsx#Row [lexical]
  // => main.tsx#pick
  const button = <ui.Button label="x">{cell()}</ui.Button>;
  // -> ui.tsx#Button [import]
  // -> main.tsx#cell
  const kept = <Memoised />;
  // -> main.tsx#Memoised
  const made = <Panel />;
  // -> main.tsx#Panel
  const plain = <div onClick={pick}>{row}</div>;
  // -/> main.tsx#div
  // => main.tsx#pick
  return (
    <>
      {button}
      {kept}
      {made}
      {plain}
    </>
  );
}
