// What opens an encrypted backup, and what is said when it does not.

import { type FileHandle, open } from 'node:fs/promises'
import { DomainError } from '../../domain/errors.ts'
import { type Opener, parseIdentities } from '../sealing.ts'

/** What the person has given, or can be asked for. */
export type Opening = {
  /** Files with secret keys of age, and their texts. */
  identities: readonly { path: string; text: string }[]
  /** From a file; null to ask for it. */
  passphrase: string | null
  /** Called when the backup turns out to need it. Throws when there is nobody to ask. */
  askPassphrase: () => Promise<string>
}

type Sealed = { file: string; opening: Opening }

/** Throws `conflict` when what was given is of the other kind. */
export async function openerFor(
  seal: 'passphrase' | 'recipients',
  { file, opening }: Sealed,
): Promise<Opener> {
  const { identities, passphrase, askPassphrase } = opening
  if (seal === 'passphrase') {
    if (identities.length > 0)
      throw refuse(file, 'is encrypted with a passphrase: --identity does not open it')
    return { passphrase: passphrase ?? (await askPassphrase()) }
  }
  if (passphrase !== null)
    throw refuse(file, 'is encrypted for a key, not with a passphrase: name the key with --identity')
  if (identities.length === 0)
    throw refuse(file, 'is encrypted for a key: name the file with the secret key with --identity')
  return { identities: (await Promise.all(identities.map(readIdentities))).flat() }
}

/** A backup that was encrypted would not be plain now unless somebody has put another in its place. */
export function requireNoneGiven({ identities, passphrase }: Opening, file: string): void {
  if (identities.length === 0 && passphrase === null) return
  const flag = identities.length > 0 ? '--identity' : '--passphrase-file'
  throw refuse(file, `is not encrypted. Leave ${flag} out if you trust this file all the same`)
}

async function readIdentities({ path, text }: Opening['identities'][number]): Promise<readonly string[]> {
  const identities = await parseIdentities(text)
  if (identities !== null) return identities
  throw refuse(
    path,
    'holds no secret key of age (a line that begins with AGE-SECRET-KEY-), or other lines beside it',
  )
}

function refuse(file: string, why: string): DomainError {
  return new DomainError('conflict', `${file} ${why}.`)
}

const PIECE_BYTES = 256 * 1024

/** Opens the file at once, and reads it piece by piece later. Throws what the system says, with the path. */
export async function openBackupFile(path: string): Promise<ReadableStream<Uint8Array>> {
  const file = await open(path, 'r')
  if ((await file.stat()).isDirectory()) {
    await file.close()
    throw refuse(path, 'is a folder, not a backup')
  }
  return streamOf(file)
}

function streamOf(file: FileHandle): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        // Without a position, so that pipes can be read too.
        const { bytesRead, buffer } = await file.read(new Uint8Array(PIECE_BYTES), 0, PIECE_BYTES, null)
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead))
        await file.close()
        controller.close()
      },
      cancel: () => file.close(),
    },
    { highWaterMark: 0 },
  )
}

/** For a source of which nothing was read. Whoever reads one closes it. */
export async function closeSource(source: ReadableStream<Uint8Array>): Promise<void> {
  if (!source.locked) await source.cancel()
}

/** Standard input. */
export function streamPieces(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await iterator.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await iterator.return?.()),
    },
    { highWaterMark: 0 },
  )
}
