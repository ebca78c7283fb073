export function subX(): void {}
