// @ts-check
/** Rectangles whose areas are as the weights. Source: Bruls, Huizing, van Wijk: Squarified Treemaps, 2000. */

/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/**
 * A box for each weight, in the order given; falling weights give the squarest boxes.
 * @param {readonly number[]} weights Positive.
 * @param {Box} box
 * @returns {Box[]}
 */
export function squarify(weights, box) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total <= 0) return [];
  const scale = (box.width * box.height) / total;
  const areas = weights.map((weight) => weight * scale);
  /** @type {Box[]} */
  const placed = [];
  let free = { ...box };
  let begin = 0;
  while (begin < areas.length) {
    const side = Math.max(Math.min(free.width, free.height), Number.EPSILON);
    let end = begin + 1;
    let sum = areas[begin];
    let ratio = worst(areas[begin], areas[begin], sum, side);
    while (end < areas.length) {
      const wider = sum + areas[end];
      const next = worst(areas[begin], areas[end], wider, side);
      if (next > ratio) break;
      ratio = next;
      sum = wider;
      end += 1;
    }
    free = placeRow(areas.slice(begin, end), sum, free, placed);
    begin = end;
  }
  return placed;
}

/** The least square of a row's boxes; areas fall, so that its ends decide. @param {number} most @param {number} least @param {number} sum @param {number} side */
function worst(most, least, sum, side) {
  const square = side * side;
  return Math.max((square * most) / (sum * sum), (sum * sum) / (square * least));
}

/** @param {readonly number[]} areas @param {number} sum @param {Box} free @param {Box[]} placed @returns {Box} what is left */
function placeRow(areas, sum, free, placed) {
  const wide = free.width >= free.height;
  const depth = sum / Math.max(wide ? free.height : free.width, Number.EPSILON);
  let along = wide ? free.y : free.x;
  for (const area of areas) {
    const length = depth > 0 ? area / depth : 0;
    placed.push(wide ? { x: free.x, y: along, width: depth, height: length } : { x: along, y: free.y, width: length, height: depth });
    along += length;
  }
  return wide
    ? { x: free.x + depth, y: free.y, width: Math.max(free.width - depth, 0), height: free.height }
    : { x: free.x, y: free.y + depth, width: free.width, height: Math.max(free.height - depth, 0) };
}
