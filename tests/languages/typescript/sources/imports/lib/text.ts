export const tools = {
  trim(text: string): string {
    return text.trim();
    // -/> lib/text.ts#tools.trim
  },
};
export default (text: string): string => text;
