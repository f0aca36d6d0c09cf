// What an import has brought, would bring, or could not bring.

/** `place` names an account or a push of the other server, never its link. */
export type Finding = { place: string; what: string }

export type ImportReport = {
  accounts: { came: number; disabled: number; known: number }
  apiTokens: number
  secondFactors: number
  pushes: { live: number; expired: number; known: number }
  files: { count: number; bytes: number }
  /** What came otherwise than it was. */
  notes: Finding[]
  /** What did not come. */
  failures: Finding[]
}

export function emptyReport(): ImportReport {
  return {
    accounts: { came: 0, disabled: 0, known: 0 },
    apiTokens: 0,
    secondFactors: 0,
    pushes: { live: 0, expired: 0, known: 0 },
    files: { count: 0, bytes: 0 },
    notes: [],
    failures: [],
  }
}
