// Reads urlencoded fields, within a number of fields and in time proportional to their bytes. Long values are decoded over
// several turns of the event loop, so that other requests do not wait for them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { DomainError } from '../../domain/errors.ts'
import { MAX_FIELD_NAME, MAX_FIELDS } from './members.ts'
import { decodeUtf8 } from './utf8.ts'

/** Where the fields stand, for refusals. */
export type Place = 'form' | 'query'

/** Bytes that are decoded in one turn of the event loop. The first time they take ten times as long, because the loop is not compiled yet. */
const PIECE_BYTES = 32 * 1024
const [AMPERSAND, EQUALS, PLUS, PERCENT, SPACE] = [0x26, 0x3d, 0x2b, 0x25, 0x20]

/** All fields in the order in which they were sent. Throws `malformed`. */
export async function parseUrlencoded(
  bytes: Uint8Array,
  place: Place,
): Promise<[name: string, value: string][]> {
  const sent = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const decode = createDecoder(place)
  const pairs: [string, string][] = []
  let count = 0
  for (let start = 0; start < sent.length; count += 1) {
    if (count === MAX_FIELDS) throw malformed(place, `has more than ${MAX_FIELDS} fields`)
    const found = sent.indexOf(AMPERSAND, start)
    const end = found === -1 ? sent.length : found
    if (end > start) pairs.push(await parsePair(sent.subarray(start, end), { place, decode }))
    start = end + 1
  }
  return pairs
}

type Decode = (sent: Buffer) => Promise<string>
type Reading = { place: Place; decode: Decode }

async function parsePair(pair: Buffer, { place, decode }: Reading): Promise<[string, string]> {
  const equals = pair.indexOf(EQUALS)
  const end = equals === -1 ? pair.length : equals
  const name = await decode(pair.subarray(0, end))
  if (name.length > MAX_FIELD_NAME)
    throw malformed(place, `has a field whose name is longer than ${MAX_FIELD_NAME} characters`)
  return [name, await decode(pair.subarray(end + 1))]
}

function createDecoder(place: Place): Decode {
  let leftInTurn = PIECE_BYTES

  /** Keeps a stray %. */
  async function unescaped(sent: Buffer): Promise<Uint8Array> {
    if (!sent.includes(PERCENT) && !sent.includes(PLUS)) return sent
    const bytes = new Uint8Array(sent.length)
    let length = 0
    for (let at = 0; at < sent.length; at += 1) {
      const byte = sent[at] ?? 0
      const escaped = byte === PERCENT ? hexOf(sent[at + 1]) * 16 + hexOf(sent[at + 2]) : NONE
      if (escaped >= 0) at += 2
      bytes[length] = escaped >= 0 ? escaped : byte === PLUS ? SPACE : byte
      length += 1
      leftInTurn -= 1
      if (leftInTurn > 0) continue
      await nextTurn()
      leftInTurn = PIECE_BYTES
    }
    return bytes.subarray(0, length)
  }

  return async (sent) => decodeUtf8(await unescaped(sent), `The ${place} holds bytes that are not UTF-8`)
}

/** Negative enough that no other digit makes up for it. */
const NONE = -1000
const DIGITS = Int16Array.from({ length: 256 }, (_, byte) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase())
  return digit === -1 ? NONE : digit
})

function hexOf(byte = 0): number {
  return DIGITS[byte] ?? NONE
}

function malformed(place: Place, problem: string): DomainError {
  return new DomainError('malformed', `The ${place} ${problem}`)
}
