export function load() {
  return null;
}
