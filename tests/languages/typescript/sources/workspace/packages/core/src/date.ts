export const today = (): string => "";
