// Tickets: sealed values that a browser keeps during a sign-in, and that expire after some minutes.

import type { Keyring } from '../crypto/keyring.ts'
import { openJson, sealJson } from '../crypto/sealed-field.ts'
import { hashToken } from '../crypto/tokens.ts'
import type { PageNonce } from '../domain/page-nonce.ts'
import type { Now } from '../domain/time.ts'

/** `field`: the purpose. A ticket for another purpose does not open. */
type TicketOptions = { keyring: Keyring; now: Now; field: string; lifetime: number }

export function createTicket<T extends object>({ keyring, now, field, lifetime }: TicketOptions) {
  const place = { subkey: 'owner', subject: new Uint8Array(), field } as const
  return {
    seal: (value: T): string => sealJson({ ...value, until: now() + lifetime }, keyring, place),
    /** Returns null for a ticket that has expired or was altered. `until`: milliseconds since 1970. */
    open: (text: string): (T & { until: number }) | null => {
      const opened = openJson<T & { until: number }>(text, keyring, place)
      return opened === null || now() >= opened.until ? null : opened
    },
  }
}

/** Returns the nonce for a name that may be used once: a hash, because others may choose a long name. */
export function nonceOf(name: string, lapsesAt: number): PageNonce {
  return { text: hashToken(name).toString('base64url'), lapsesAt }
}
