// What pages carry sealed, and the server gets back: so it stores nothing of it, but the nonces that were
// spent.

import type { Keyring } from '../crypto/keyring.ts'
import { type KeyringPlace, openFromText, sealToText } from '../crypto/sealed-field.ts'
import type { Account } from '../domain/account.ts'
import { isDomainError, rethrowWithoutDoubt } from '../domain/errors.ts'
import type { PageNonce } from '../domain/page-nonce.ts'
import { HOUR, type Now } from '../domain/time.ts'
import type { SharedState } from '../store/contract.ts'

export type PageSeals = ReturnType<typeof createPageSeals>
export type FormMarks = PageSeals['marks']
export type PageNonces = PageSeals['nonces']

type PageSealsOptions = { keyring: Keyring; usedNonces: SharedState['nonces']; now: Now }

const NOBODY = 'nobody'
const NONCE_LIFETIME = 12 * HOUR
/** Nonces that are remembered in memory; each takes about 150 bytes. */
const MOST_PRESSED = 10_000
const FORM_MARK = placeOf('pages', 'form mark')
const SHOWN_TEXT = placeOf('grants', 'text')
const senderPlace = (urlToken: string) => placeOf('grants', 'sender', urlToken)
const noncePlace = (subject: string) => placeOf('pages', 'nonce', subject)

export function createPageSeals({ keyring, usedNonces, now }: PageSealsOptions) {
  /** Nonces of the latest buttons pressed, most of which spent nothing because they were refused. */
  const pressed = new Set<string>()
  const seal = (text: string, place: KeyringPlace) => sealToText(text, keyring, place)
  /** Null when this server did not seal the text for this place, or it was altered. */
  const open = (sealed: string, place: KeyringPlace) => openFromText(sealed, keyring, place)

  /** `accountId` is null when nobody was signed in. */
  function readMark(mark: string): { accountId: number | null } | null {
    if (mark === NOBODY) return { accountId: null }
    const opened = open(mark, FORM_MARK)
    return opened === null ? null : { accountId: Number(opened) }
  }

  /**
   * Resolves to the result of `act`, which spends the nonce in the commit of what it does. used: the form was
   * sent before. stale: too old, for another push, or of another instance. A refused press stores nothing;
   * only this process remembers it, for a while.
   */
  async function press<T>(
    { text, subject }: { text: string; subject: string },
    act: (nonce: PageNonce) => Promise<T>,
  ): Promise<T | 'used' | 'stale'> {
    const madeAt = open(text, noncePlace(subject))
    if (madeAt === null) return 'stale'
    const lapsesAt = Number(madeAt) + NONCE_LIFETIME
    if (now() > lapsesAt) return 'stale'
    if (pressed.has(text)) return 'used'
    pressed.add(text)
    for (const oldest of pressed) if (pressed.size > MOST_PRESSED) pressed.delete(oldest)
    try {
      if (await usedNonces.isSpent(text).catch(rethrowWithoutDoubt)) return 'used'
      return await act({ text, lapsesAt })
    } catch (cause) {
      if (isDomainError(cause, 'conflict')) return 'used'
      // The same form may be sent again: if the change happened all the same, the store knows.
      pressed.delete(text)
      throw cause
    }
  }

  return {
    /**
     * In forms, of the account that opened them. A mark outlives the session, so that the server notices when
     * that account has signed out or another has signed in.
     */
    marks: {
      issue: (account: Account | null) => (account === null ? NOBODY : seal(String(account.id), FORM_MARK)),
      read: readMark,
    },
    /** The mark of the sender of a push, who may see whether it was opened, also without an account. */
    senders: {
      seal: (urlToken: string) => seal('', senderPlace(urlToken)),
      isOf: (mark: string, urlToken: string) => open(mark, senderPlace(urlToken)) !== null,
    },
    /** Texts that a page has shown, for saving them as files without a script. */
    shownTexts: {
      seal: (text: string) => seal(text, SHOWN_TEXT),
      open: (sealed: string) => open(sealed, SHOWN_TEXT),
    },
    /**
     * A nonce lets the button of a page work once, on any node. It is the time of its page, sealed for its
     * subject. No two are the same, because sealing is random.
     */
    nonces: { issue: (subject: string) => seal(String(now()), noncePlace(subject)), press },
  }
}

function placeOf(subkey: 'pages' | 'grants', field: string, subject = ''): KeyringPlace {
  return { subkey, field, subject: Buffer.from(subject) }
}
