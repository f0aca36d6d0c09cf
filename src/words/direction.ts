// The direction of a language. Browsers run this too.

/** Whether a language is written from right to left. */
export const isRightToLeft = (tag: string): boolean => /^(?:ar|fa|he|ur)\b/.test(tag)
