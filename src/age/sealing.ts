// The format of end-to-end pushes, and of answers that are encrypted for their owner. A text is ASCII-armored
// age. Each file is age around a ZIP that holds only this file, with the comment `n/N`. The program `age`
// decrypts both. The browser and the command line use this code to encrypt and decrypt, and the server to
// encrypt plain answers.

import { armor, Decrypter, Encrypter } from 'age-encryption'
import { joined, piecesOf, streamOf } from './streams.ts'
import { unzipFile, zipFile } from './zip.ts'

/** Thrown if the received data was not encrypted for these keys. Do not show or keep any part of it. */
export class Unopened extends Error {}

/** Encrypts a text, ASCII-armoured. Throws if a recipient is not a key. */
export async function sealText(text: string, recipients: readonly string[]): Promise<string> {
  return armor.encode(await encrypterFor(recipients).encrypt(text))
}

/** The position `n` in a sequence of `of` files; null if their number is not known. */
export type FilePosition = { n: number; of: number }

/** `at`: the time that the file gets when it is opened, in milliseconds since 1970. */
export type PlainFile = {
  name: string
  content: AsyncIterable<Uint8Array>
  at: number
  position: FilePosition | null
}

/** Encrypts a file while it is read, so that its name is encrypted too. */
export async function sealFile(
  { position, ...file }: PlainFile,
  recipients: readonly string[],
): Promise<ReadableStream<Uint8Array>> {
  const comment = position === null ? null : `${position.n}/${position.of}`
  return encrypterFor(recipients).encrypt(zipFile({ ...file, comment }))
}

function encrypterFor(recipients: readonly string[]): Encrypter {
  const encrypter = new Encrypter()
  for (const recipient of recipients) encrypter.addRecipient(recipient)
  return encrypter
}

/** Decrypts a text. Throws Unopened unless one of the identities decrypts all of it. */
export async function openText(armoured: string, identities: readonly string[]): Promise<string> {
  try {
    const bytes = await decrypterOf(identities).decrypt(armor.decode(armoured))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw unopened(cause)
  }
}

export type OpenOptions = {
  identities: readonly string[]
  /** The most bytes that the content may have. */
  maxBytes: number
  /** Receives the name before the content, for instance to ask where to save it. */
  begin?: (name: string) => Promise<void> | void
  /** Receives content that is not yet authenticated: do not use it before `openFile` resolves. */
  write: (bytes: Uint8Array) => Promise<void> | void
}

/** `name` is as the sender wrote it, and may be harmful. */
export type DecryptedFile = { name: string; size: number; position: FilePosition | null }

/**
 * Decrypts a file while it is read. Throws Unopened unless one of the identities decrypts all of it, and
 * whatever `sealed` and `write` throw.
 */
export async function openFile(
  sealed: AsyncIterable<Uint8Array>,
  { identities, maxBytes, begin, write }: OpenOptions,
): Promise<DecryptedFile> {
  // Pass failures of the disk or the network on: they say nothing about the content.
  let other: { cause: unknown } | null = null
  const noting = (cause: unknown) => {
    other ??= { cause }
    throw cause
  }
  async function* read() {
    try {
      yield* sealed
    } catch (cause) {
      noting(cause)
    }
  }
  try {
    const pieces = await withHeader(read())
    const zip = await decrypterOf(identities).decrypt(streamOf(pieces))
    const { name, size, comment } = await unzipFile(piecesOf(zip), {
      maxBytes,
      begin: begin && (async (first) => void (await Promise.resolve(begin(first)).catch(noting))),
      write: async (bytes) => void (await Promise.resolve(write(bytes)).catch(noting)),
    })
    return { name, size, position: positionIn(comment) }
  } catch (cause) {
    throw other === null ? unopened(cause) : (other as { cause: unknown }).cause
  }
}

/** Parses `n/N`, up to 9,999 files. Returns null for any other comment. */
function positionIn(comment: string): FilePosition | null {
  const [, n = 0, of = 0] = (/^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(comment) ?? []).map(Number)
  return n > 0 && n <= of ? { n, of } : null
}

/**
 * Limits what a file may unpack to: its content is a ZIP, and a small ZIP can expand until the disk is full.
 */
const MIN_ROOM = 256 * 1024 * 1024
const MAX_GROWTH = 20

/** Returns the most bytes that the content of an encrypted file may have. */
export function roomFor(sealedBytes: number): number {
  return Math.max(MIN_ROOM, MAX_GROWTH * sealedBytes)
}

function decrypterOf(identities: readonly string[]): Decrypter {
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  return decrypter
}

/** The longest header to accept: enough for hundreds of recipients. */
const MAX_HEADER_BYTES = 64 * 1024
const HEADER_END = '\n--- '

/**
 * Returns the pieces unchanged. Throws unless they begin with a header of limited size, because age would
 * read one of any length.
 */
async function withHeader(pieces: AsyncGenerator<Uint8Array>): Promise<AsyncGenerator<Uint8Array>> {
  let first: Uint8Array = new Uint8Array()
  while (!textIn(first).includes(HEADER_END)) {
    const next = first.length < MAX_HEADER_BYTES ? await pieces.next() : null
    if (next === null || next.done === true) throw new Unopened('it is not encrypted with age')
    first = joined([first, next.value])
  }
  return (async function* () {
    yield first
    yield* pieces
  })()
}

function textIn(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes.subarray(0, MAX_HEADER_BYTES))
}

function unopened(cause: unknown): Unopened {
  if (cause instanceof Unopened) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  if (message.startsWith('no identity matched')) return new Unopened('none of the keys opens it')
  if (message === 'invalid header' || message === 'invalid footer')
    return new Unopened('it is not encrypted with age')
  return new Unopened(`it is damaged or was changed: ${message}`)
}
