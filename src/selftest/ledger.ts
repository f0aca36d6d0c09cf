// What clients saw of each push, and whether what a server says later can be true.

export type Known = {
  payload: string
  views: number
  /** Payloads that arrived. */
  seen: number
  /** Retrievals whose answer was lost: each may have been counted, or not. */
  lost: number
  /** A deletion was acknowledged, or its answer was lost. */
  deleted: 'no' | 'perhaps' | 'yes'
}

export type Ledger = ReturnType<typeof createLedger>

export function createLedger() {
  const known = new Map<string, Known>()
  const faults: string[] = []

  function blame(urlToken: string, fault: string): void {
    // The beginning tells pushes apart, and is no link.
    faults.push(`push ${urlToken.slice(0, 4)}…: ${fault}`)
  }

  /** A payload that arrived. `wasDeleted`: the deletion had been acknowledged before anybody asked. */
  function noteSeen(urlToken: string, payload: unknown, wasDeleted: boolean): void {
    const push = known.get(urlToken)
    if (push === undefined) return
    push.seen += 1
    if (payload !== push.payload) blame(urlToken, 'its payload came back altered')
    if (push.seen > push.views) blame(urlToken, `${push.seen} payloads for ${push.views} views`)
    if (wasDeleted) blame(urlToken, 'handed out after it was deleted')
  }

  /** How often a push that is retrieved to its end now may still give its payload. */
  function noteRest(urlToken: string, payloads: number): void {
    const push = known.get(urlToken)
    if (push === undefined) return
    // `seen` holds these payloads already.
    const least = push.deleted === 'no' ? push.views - (push.seen - payloads) - push.lost : 0
    if (payloads < least) blame(urlToken, `${least - payloads} acknowledged views are missing`)
    known.delete(urlToken)
  }

  return { known, faults, blame, noteSeen, noteRest }
}
