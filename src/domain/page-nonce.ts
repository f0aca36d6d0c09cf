// The nonce of a page, which lets its button work once.

/** A nonce, spent in the same commit as the button's action. `lapsesAt`: milliseconds since 1970. */
export type PageNonce = { text: string; lapsesAt: number }
