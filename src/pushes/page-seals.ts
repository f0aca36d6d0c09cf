// Seals of pages: values that a page carries and the server gets back, so that the server stores only used
// nonces.

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
/** The maximum number of nonces in memory, about 150 bytes each. */
const MOST_PRESSED = 10_000
const FORM_MARK = placeOf('pages', 'form mark')
const SHOWN_TEXT = placeOf('grants', 'text')
const senderPlace = (urlToken: string) => placeOf('grants', 'sender', urlToken)
const noncePlace = (subject: string) => placeOf('pages', 'nonce', subject)

export function createPageSeals({ keyring, usedNonces, now }: PageSealsOptions) {
  /** The nonces of recently pressed buttons, which a refused press does not store. */
  const pressed = new Set<string>()
  const seal = (text: string, place: KeyringPlace) => sealToText(text, keyring, place)
  /** Returns null when the text was altered or not sealed here for this use. */
  const open = (sealed: string, place: KeyringPlace) => openFromText(sealed, keyring, place)

  /** Returns the account that opened the form; `accountId` is null for a visitor. */
  function readMark(mark: string): { accountId: number | null } | null {
    if (mark === NOBODY) return { accountId: null }
    const opened = open(mark, FORM_MARK)
    return opened === null ? null : { accountId: Number(opened) }
  }

  /**
   * Resolves to the result of `act`, which uses up the nonce in the same commit. used: the form was sent
   * before. stale: it is too old, for another push, or from another instance. Only this process remembers,
   * for a while, that a press was refused.
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
      // Allow a retry of the form: if the change has happened after all, the store will refuse it.
      pressed.delete(text)
      throw cause
    }
  }

  return {
    /**
     * Marks of the account that opened a form. They stay valid after its session, so that the server notices
     * when that account has signed out or another one has signed in.
     */
    marks: {
      issue: (account: Account | null) => (account === null ? NOBODY : seal(String(account.id), FORM_MARK)),
      read: readMark,
    },
    /** Marks of the sender of a push, who may see whether it was opened, even without an account. */
    senders: {
      seal: (urlToken: string) => seal('', senderPlace(urlToken)),
      isOf: (mark: string, urlToken: string) => open(mark, senderPlace(urlToken)) !== null,
    },
    /** Texts shown on a page, for saving them as files without a script. */
    shownTexts: {
      seal: (text: string) => seal(text, SHOWN_TEXT),
      open: (sealed: string) => open(sealed, SHOWN_TEXT),
    },
    /**
     * A nonce lets the button of a page work once, on any node. It is the time at which the page was made,
     * sealed for its subject. Sealing is random, so no two nonces are equal.
     */
    nonces: { issue: (subject: string) => seal(String(now()), noncePlace(subject)), press },
  }
}

function placeOf(subkey: 'pages' | 'grants', field: string, subject = ''): KeyringPlace {
  return { subkey, field, subject: Buffer.from(subject) }
}
