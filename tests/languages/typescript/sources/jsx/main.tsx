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
  return (
    <div>
      <Row onPick={pick} />
      {/* the tag above is a call */}
      <ui.Button label="x">{cell()}</ui.Button>
      <Memoised />
      <Panel />
    </div>
  );
}
// Table -> main.tsx#Row [lexical]
