export function one(): void {}
