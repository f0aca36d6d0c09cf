// Encrypts backups with age (https://age-encryption.org/v1) for recipients or a passphrase, and decrypts
// them. The program `age` can decrypt them too.

import type { Decrypter } from 'age-encryption'
import { streamOf } from '../age/streams.ts'
import { type IdentityFile, identitiesIn, noIdentities } from '../domain/age-recipient.ts'
import { conflict, type DomainError } from '../domain/errors.ts'
import { codeOf, messageOf } from '../domain/system-errors.ts'
import { damagedBackup, unfitBackup } from './refusals.ts'

export type Seal = { recipients: readonly string[] } | { passphrase: string }

/** The way in which a backup is encrypted. */
type SealKind = 'none' | 'passphrase' | 'recipients'

const HEADER_END = '\n--- '
const MAGIC = 'age-encryption.org/v1\n'
const ARMOR = '-----BEGIN AGE ENCRYPTED FILE-----'
/** Enough for dozens of recipients. */
const MAX_HEADER_BYTES = 64 * 1024

/** Loads the library late, because that is slow and most commands never need it. */
const loadAge = () => import('age-encryption')

/** Encrypts a stream. A passphrase takes a second or two and 256 MiB of memory (scrypt as in age). */
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
    // A key with a valid checksum need not be a point on its curve.
    throw conflict(`The backup cannot be encrypted for one of the public keys: ${messageOf(cause)}.`)
  }
}

/** The operator's keys and passphrase for decrypting a backup. */
export type BackupCredentials = {
  identities: readonly IdentityFile[]
  /** The passphrase from a file; null to ask for it. */
  passphrase: string | null
  /** Called if the backup is encrypted with a passphrase. Throws if there is no terminal. */
  askPassphrase: () => Promise<string>
}

type OpenedBackup = { seal: SealKind; tar: ReadableStream<Uint8Array> }

/**
 * Throws `conflict`, naming `file`, if it is not a backup or the credentials do not decrypt it. Alterations
 * are detected later, while `tar` is read.
 */
export async function openBackup(
  source: AsyncIterable<Uint8Array>,
  { file, credentials }: { file: string; credentials: BackupCredentials },
): Promise<OpenedBackup> {
  const pieces = source[Symbol.asyncIterator]()
  try {
    const first = await readHeader(pieces)
    const seal = sealOf(first, file)
    const tar = streamOf(joined(first, pieces))
    if (seal !== 'none')
      return { seal, tar: await decrypt(tar, await createDecrypter(seal, { file, credentials }), file) }
    // If the operator gave credentials, refuse a plain backup, which may be a forgery.
    const { identities, passphrase } = credentials
    if (identities.length === 0 && passphrase === null) return { seal, tar }
    const flag = identities.length > 0 ? '--identity' : '--passphrase-file'
    throw refuse(file, `is not encrypted. Omit ${flag} if you trust this file anyway`)
  } catch (cause) {
    await pieces.return?.()
    throw cause
  }
}

/** Reads pieces until they contain the whole header of age, or show that there is none. */
async function readHeader(pieces: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let first = Buffer.alloc(0)
  while (first.length < MAX_HEADER_BYTES && !endsHeader(first)) {
    const { done, value } = await pieces.next()
    if (done === true) break
    first = Buffer.concat([first, value])
  }
  return first
}

async function* joined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}

function endsHeader(first: Buffer): boolean {
  if (first.length < MAGIC.length) return false
  return first.toString('latin1', 0, MAGIC.length) !== MAGIC || first.includes(HEADER_END)
}

function sealOf(first: Buffer, file: string): SealKind {
  const text = first.toString('latin1')
  // A tar begins with a file name, and so never with a zero byte.
  if (text === '' || text.startsWith('\0')) throw unfitBackup(file, 'it is empty')
  if (text.startsWith(ARMOR))
    throw unfitBackup(file, 'it is an armored age file. Decode it first with: age --decrypt')
  if (!text.startsWith(MAGIC)) return 'none'
  // The library reads the header into memory without a limit.
  if (!text.includes(HEADER_END)) throw damagedBackup(file, 'the header of its encryption has no end')
  return text.startsWith('-> scrypt ', MAGIC.length) ? 'passphrase' : 'recipients'
}

/** Throws `conflict` if the credentials do not fit the encryption, such as keys for a passphrase. */
async function createDecrypter(
  seal: 'passphrase' | 'recipients',
  { file, credentials }: { file: string; credentials: BackupCredentials },
): Promise<Decrypter> {
  const { Decrypter } = await loadAge()
  const decrypter = new Decrypter()
  const { identities, passphrase, askPassphrase } = credentials
  if (seal === 'passphrase') {
    if (identities.length > 0)
      throw refuse(file, 'is encrypted with a passphrase: --identity does not open it')
    decrypter.addPassphrase(passphrase ?? (await askPassphrase()))
    return decrypter
  }
  if (passphrase !== null)
    throw refuse(file, 'is encrypted for a key, not with a passphrase: name the key with --identity')
  if (identities.length === 0)
    throw refuse(file, 'is encrypted for a key: name the file with the secret key with --identity')
  for (const identity of identities) addIdentities(decrypter, identity)
  return decrypter
}

/** Throws `conflict` if the file contains no keys, or contains other lines. */
function addIdentities(decrypter: Decrypter, { path, text }: IdentityFile): void {
  const keys = identitiesIn(text)
  try {
    if (keys.length === 0) throw new Error('no key')
    for (const key of keys) decrypter.addIdentity(key)
  } catch {
    throw noIdentities(path)
  }
}

async function decrypt(sealed: ReadableStream<Uint8Array>, decrypter: Decrypter, file: string) {
  try {
    return await decrypter.decrypt(sealed)
  } catch (cause) {
    if (codeOf(cause) !== '') throw cause
    const message = messageOf(cause)
    if (!message.startsWith('no identity matched'))
      throw damagedBackup(file, `it cannot be decrypted (${message})`)
    throw unfitBackup(file, 'the passphrase is wrong, or none of the keys decrypts it')
  }
}

function refuse(file: string, why: string): DomainError {
  return conflict(`${file} ${why}.`)
}
