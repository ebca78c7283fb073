export function Cell(props: { children: unknown }) {
  return null;
}
export const Panel = { Body: (props: { render: () => unknown }) => <>{props.render()}</> };
export default Cell;
