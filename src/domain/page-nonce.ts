// The nonce of a page, with which its button works once.

/** Spent in the same commit as what the button does. `lapsesAt`: milliseconds since 1970. */
export type PageNonce = { text: string; lapsesAt: number }
