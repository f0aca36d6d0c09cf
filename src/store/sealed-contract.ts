// The sealed parts of a push, as they are stored.

/** The secrets that open a push, destroyed when it expires. */
export type SealedSecrets = {
  salt: Uint8Array
  wrappedKey: Uint8Array
  payload: Uint8Array
  /** The salt of the passphrase; null without one. */
  passphraseSalt: Uint8Array | null
}

/** A file of a push; name and type are sealed under the push's data key. */
export type SealedFile = { fileId: string; size: number; filename: Uint8Array; contentType: Uint8Array }

/** The sealed texts with which the owner's lists show a push. */
export type SealedLabels = {
  urlToken: Uint8Array
  name: Uint8Array | null
  note: Uint8Array | null
  /** The token of the request that the push answers, empty if a restore lost it; null for any other push. */
  request?: Uint8Array | null
  /** Whether the name was entered as that of the recipient; false if absent. */
  namesRecipient?: boolean
}

/** Mails with the link of a push. */
export type SealedMails = readonly string[]

export type MailsOfPush = { ownerId: number; mails: SealedMails }
