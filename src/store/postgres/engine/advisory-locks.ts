// The advisory locks of PostgreSQL that Oncebox takes. A lock is a number in the whole database, so no two may be equal.

export const LOCKS = {
  /** "ONCEBOX" in ASCII. */
  migration: '22322573991890776',
  /** For accounts that do not exist yet, and so have no row that could be locked. */
  newAccount: '185359984',
  /** A pair of numbers, which never equals a single number. */
  imports: '7216, 1',
} as const
