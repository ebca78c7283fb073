export const two = function (): void {};
