// Records what clients saw of each push, and checks later responses against it.

export type TrackedPush = {
  payload: string
  views: number
  /** Payloads that arrived. */
  seen: number
  /** Retrievals whose response was lost. Each may or may not have counted as a view. */
  lost: number
  /** Whether a deletion was acknowledged; `perhaps` if its response was lost. */
  deleted: 'no' | 'perhaps' | 'yes'
}

export type Ledger = ReturnType<typeof createLedger>

export function createLedger() {
  const known = new Map<string, TrackedPush>()
  const faults: string[] = []

  function blame(urlToken: string, fault: string): void {
    // The first characters identify the push without revealing its link.
    faults.push(`push ${urlToken.slice(0, 4)}…: ${fault}`)
  }

  /** Records a received payload. `wasDeleted`: a deletion had been acknowledged before this request. */
  function noteSeen(urlToken: string, payload: unknown, wasDeleted: boolean): void {
    const push = known.get(urlToken)
    if (push === undefined) return
    push.seen += 1
    if (payload !== push.payload) blame(urlToken, 'its payload came back altered')
    if (push.seen > push.views) blame(urlToken, `${push.seen} payloads for ${push.views} views`)
    if (wasDeleted) blame(urlToken, 'handed out after it was deleted')
  }

  /** Checks how many payloads a push returned until it expired. Too few means lost views. */
  function noteRest(urlToken: string, payloads: number): void {
    const push = known.get(urlToken)
    if (push === undefined) return
    // `seen` includes the deleted payloads already.
    const least = push.deleted === 'no' ? push.views - (push.seen - payloads) - push.lost : 0
    if (payloads < least) blame(urlToken, `${least - payloads} acknowledged views are missing`)
    known.delete(urlToken)
  }

  return { known, faults, blame, noteSeen, noteRest }
}
