// The age keys for received content: the one in a link, and those in identity files. Refuses content that
// none of them decrypts.

import type { DecryptedFile, FilePosition } from '../age/sealing.ts'
import type { PushClient } from '../client/client.ts'
import { ClientFailure } from '../client/failure.ts'
import { createOwnFile } from '../client/own-files.ts'
import { type IdentityFile, identitiesIn, noIdentities } from '../domain/age-recipient.ts'
import { printableLine } from '../text/printable.ts'

type KeySources = {
  /** The key in the link; null without one. */
  linkKey: string | null
  files?: readonly IdentityFile[]
}

export type AgeKeys = NonNullable<Awaited<ReturnType<typeof readAgeKeys>>>

/**
 * Resolves to null without any key. Throws ClientFailure for a key in a link that is cut or misspelled, and
 * `conflict` for a file without keys.
 */
export async function readAgeKeys({ linkKey, files = [] }: KeySources) {
  if (linkKey === null && files.length === 0) return null
  // Loaded only when needed: most commands decrypt nothing.
  const { keyCheckOf, recipientOf } = await import('../age/keys.ts')
  const { openFile, openText, roomFor, Unopened } = await import('../age/sealing.ts')
  const ofLink = linkKey === null ? [] : [await identityInLink(linkKey)]
  const ofFiles = files.map((file) => [file, identitiesIn(file.text)] as const)
  const identities = [...ofLink, ...ofFiles.flatMap(([, keys]) => keys)]
  const readChecks = () => Promise.all(identities.map(async (key) => keyCheckOf(await recipientOf(key))))
  const checks: string[] = await readChecks().catch(() => [])
  const wrong =
    ofFiles.find(([, keys]) => keys.length === 0) ?? (checks.length === 0 ? ofFiles[0] : undefined)
  if (wrong !== undefined) throw noIdentities(wrong[0].path)

  function explain(what: string) {
    return (cause: unknown): never => {
      if (!(cause instanceof Unopened)) throw cause
      throw unopened(`${what} was refused: ${printableLine(cause.message)}.`)
    }
  }

  async function openTo(sealed: string, path: string): Promise<DecryptedFile> {
    await using file = await createOwnFile(path)
    const opened = await openStream(Bun.file(sealed), (bytes) => file.writeFile(bytes))
    await file.sync()
    return opened
  }

  function openStream(sealed: Blob, write: (bytes: Uint8Array) => Promise<void> | void) {
    return openFile(sealed.stream(), { identities, maxBytes: roomFor(sealed.size), write })
  }

  return {
    /** Throws ClientFailure unless one of the keys is the one that the push was encrypted for. */
    requireKey(keyCheck: string | null): void {
      if (keyCheck !== null && !checks.includes(keyCheck))
        throw unopened('This is not the key of this push. Is the link whole, and from the same message?')
    },
    /** Throws ClientFailure unless a key opens the text. */
    openText: (text: string): Promise<string> => openText(text, identities).catch(explain('The text')),
    /** Decrypts a saved file into a new one. Throws ClientFailure unless a key decrypts all of it. */
    openFile: ({ name, from, to }: { name: string; from: string; to: string }): Promise<DecryptedFile> =>
      openTo(from, to).catch(explain(name)),
    /** Decrypts a file and writes it piece by piece. Throws ClientFailure unless a key decrypts all of it. */
    pourFile: (name: string, from: Blob, write: (bytes: Uint8Array) => Promise<void> | void) =>
      openStream(from, write).catch(explain(name)),
  }
}

/** Throws ClientFailure for no key, or for one of another length or spelling. */
export async function identityInLink(linkKey: string | null): Promise<string> {
  const { identityOfLinkKey } = await import('../age/keys.ts')
  const identity = linkKey === null ? null : identityOfLinkKey(linkKey)
  if (identity !== null) return identity
  throw unopened('The link holds no whole key: its 43 characters after # are missing or were changed.')
}

/**
 * Checks that the keys fit the push, without using up a view. Throws ClientFailure if they do not fit, or if
 * a key is missing. Does nothing if the server does not report what the push needs.
 */
export async function requireKeys(
  { client, urlToken }: { client: Pick<PushClient, 'check'>; urlToken: string },
  keys: AgeKeys | null,
  { isKeyInLink }: { isKeyInLink: boolean },
): Promise<void> {
  const found = await client.check(urlToken).catch((cause) => {
    if (cause instanceof ClientFailure && cause.kind === 'unavailable') throw cause
    // Continue: opening the push gives a better reason.
    return null
  })
  if (found === null) return
  const { keyCheck, isTold, isEndToEnd, isExpired } = found
  if (isExpired) return
  if (keys === null && keyCheck !== null)
    throw unopened('The key of this push is missing: its link goes on after # with 43 more characters.')
  keys?.requireKey(keyCheck)
  if (isKeyInLink && isTold && !isEndToEnd)
    throw unopened('The link has a key, but this push is not end-to-end. Whoever sent it can tell.')
}

/** Throws ClientFailure unless a decrypted file is the sender's file number `n`, if the file says so. */
export function requirePosition({ position }: DecryptedFile, name: string, n: number): void {
  if (position !== null && position.n !== n)
    throw unopened(`${name} was refused: it is the file ${position.n}/${position.of} of its sender.`)
}

/**
 * Throws ClientFailure if the push, which has this many `files`, lacks one that the sender encrypted, as far
 * as the files say how many there are.
 */
export function requireAll(positions: readonly (FilePosition | null)[], files: number): void {
  const of = Math.max(0, ...positions.map((position) => position?.of ?? 0))
  const missing = Array.from({ length: Math.max(0, of - files) }, (_, index) => files + index + 1)
  if (missing.length > 0)
    throw unopened(
      `The sender has sent ${of} files, and this server has not sent ${missing.map((n) => `${n}/${of}`).join(', ')}.`,
      '',
    )
}

export function unopened(message: string, more = ' Nothing was shown or saved.'): ClientFailure {
  return new ClientFailure('unopened', `${message}${more}`)
}
