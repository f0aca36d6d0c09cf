// Backups wrapped in age (https://age-encryption.org/v1), for recipients or a passphrase. The program `age` opens them too.

import { DomainError } from '../domain/errors.ts'
import { codeOf } from '../domain/system-errors.ts'
import { peek } from './pieces.ts'
import { damagedBackup, unfitBackup } from './refusals.ts'

export type Seal = { recipients: readonly string[] } | { passphrase: string }
export type Opener = { identities: readonly string[] } | { passphrase: string }

/** What it takes to open a backup. */
export type SealKind = 'none' | 'passphrase' | 'recipients'

const MAGIC = 'age-encryption.org/v1\n'
const ARMOR = '-----BEGIN AGE ENCRYPTED FILE-----'
/** Enough for dozens of recipients. */
const MAX_HEADER_BYTES = 64 * 1024

/** Loaded only when needed, because it takes its time and most commands never seal or open a backup. */
const loadAge = () => import('age-encryption')

/**
 * Returns the secret keys of an identity file, as age-keygen writes it: one a line, comments with `#`. Returns null if another
 * line is in it, or no key.
 */
export async function parseIdentities(text: string): Promise<readonly string[] | null> {
  const { Decrypter } = await loadAge()
  const lines = text.split('\n').map((line) => line.trim())
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'))
  const isIdentity = (key: string) => {
    try {
      new Decrypter().addIdentity(key)
      return true
    } catch {
      return false
    }
  }
  return keys.length > 0 && keys.every(isIdentity) ? keys : null
}

/** A passphrase takes a second or two and 256 MiB of memory (scrypt at the cost that age chose). */
export async function sealStream(
  plain: ReadableStream<Uint8Array>,
  seal: Seal,
): Promise<ReadableStream<Uint8Array>> {
  const { Encrypter } = await loadAge()
  const encrypter = new Encrypter()
  try {
    if ('passphrase' in seal) encrypter.setPassphrase(seal.passphrase)
    else for (const recipient of seal.recipients) encrypter.addRecipient(recipient)
    return await encrypter.encrypt(plain)
  } catch (cause) {
    // A key can have a right checksum and be no point of its curve.
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new DomainError(
      'conflict',
      `The backup cannot be encrypted for one of the public keys: ${message}.`,
    )
  }
}

/** Reads how a backup is sealed from its first bytes. Continue with the returned stream. `file` names it in refusals. */
export async function readSeal(
  source: ReadableStream<Uint8Array>,
  file: string,
): Promise<{ seal: SealKind; stream: ReadableStream<Uint8Array> }> {
  const { first, stream } = await peek(source, MAX_HEADER_BYTES, endsHeader)
  const text = Buffer.from(first).toString('latin1')
  try {
    return { seal: kindOf(text, file), stream }
  } catch (cause) {
    await stream.cancel(cause)
    throw cause
  }
}

function endsHeader(first: Uint8Array): boolean {
  if (first.length < MAGIC.length) return false
  const bytes = Buffer.from(first.buffer, first.byteOffset, first.length)
  return !bytes.toString('latin1', 0, MAGIC.length).startsWith(MAGIC) || bytes.includes('\n--- ')
}

function kindOf(text: string, file: string): SealKind {
  if (text === '') throw unfitBackup(file, 'it is empty')
  if (text.startsWith(ARMOR))
    throw unfitBackup(file, 'it is an age file in letters (armored). Decode it first with: age --decrypt')
  // A tar begins with a name. Zeros are its end, which an endless file of them would never reach.
  if (text.startsWith('\0')) throw unfitBackup(file, 'it is empty')
  if (!text.startsWith(MAGIC)) return 'none'
  // The library reads the whole header into memory, however long it is.
  if (!text.includes('\n--- ')) throw damagedBackup(file, 'the header of its encryption has no end')
  return text.startsWith('-> scrypt ', MAGIC.length) ? 'passphrase' : 'recipients'
}

/** Throws `conflict` when the opener does not fit. Alterations are noticed while the result is read. */
export async function openSealed(
  sealed: ReadableStream<Uint8Array>,
  { opener, file }: { opener: Opener; file: string },
): Promise<ReadableStream<Uint8Array>> {
  const { Decrypter } = await loadAge()
  const decrypter = new Decrypter()
  if ('passphrase' in opener) decrypter.addPassphrase(opener.passphrase)
  else for (const identity of opener.identities) decrypter.addIdentity(identity)
  try {
    return await decrypter.decrypt(sealed)
  } catch (cause) {
    if (codeOf(cause) !== '') throw cause
    const message = cause instanceof Error ? cause.message : String(cause)
    if (!message.startsWith('no identity matched'))
      throw damagedBackup(file, `its encryption does not open (${message})`)
    throw unfitBackup(
      file,
      'passphrase' in opener ? 'the passphrase is wrong' : 'none of the keys that were given opens it',
    )
  }
}
