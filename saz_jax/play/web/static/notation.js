// Names of points: columns A to Z, then AA, AB, ...; rows from the top, counted from 1.

export function columnName(column) {
  return (column >= 26 ? columnName(Math.floor(column / 26) - 1) : "") + String.fromCharCode(65 + (column % 26));
}

export function pointName(row, column) {
  return columnName(column) + (row + 1);
}

// [row, column], or null for pass and for what is no point; of a move such as B2-C3, where it ends.
export function readPoint(name) {
  const found = /^(?:[A-Z]+[0-9]+-)?([A-Z]+)([0-9]+)$/.exec(name);
  if (!found) return null;
  let column = 0;
  for (const letter of found[1]) column = 26 * column + letter.charCodeAt(0) - 64;
  return [Number(found[2]) - 1, column - 1];
}
