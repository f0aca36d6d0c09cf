// The advisory locks of PostgreSQL that Oncebox takes. They are numbers, for the whole database: each must be another one.

export const LOCKS = {
  /** "ONCEBOX" in ASCII. */
  migration: '22322573991890776',
  move: '22322573991890777',
  /** For accounts that do not exist yet, and so have no row that could be locked. */
  newAccount: '185359984',
  /** A pair of numbers, which is no number of one. */
  imports: '7216, 1',
} as const
