// What an import has brought, would bring, or could not bring.

/** `place` names an account or a push of the other server, never its link. */
export type Finding = { place: string; what: string }

export type ImportReport = ReturnType<typeof emptyReport>

export function emptyReport() {
  return {
    accounts: { came: 0, disabled: 0, known: 0 },
    apiTokens: 0,
    secondFactors: 0,
    pushes: { live: 0, expired: 0, known: 0 },
    files: { count: 0, bytes: 0 },
    /** What came otherwise than it was. */
    notes: [] as Finding[],
    /** What did not come. */
    failures: [] as Finding[],
  }
}
