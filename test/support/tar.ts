// Malformed tar archives, written header by header.

import { createHash } from 'node:crypto'

export type RawMember = { name: string; body: string; size?: number; type?: string; link?: string }

/** `size` and `type` are what the header claims. */
export function rawTar(members: readonly RawMember[]): Buffer {
  return Buffer.concat([...members.map(rawMember), Buffer.alloc(1024)])
}

export function rawMember({ name, body, size, type = '0', link = '' }: RawMember): Buffer {
  const bytes = Buffer.from(body)
  const header = Buffer.alloc(512)
  header.write(name, 0, 100)
  header.write('0000600\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  header.write('        ', 148)
  header.write(type, 156)
  header.write(link, 157, 100)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, bytes, Buffer.alloc(-bytes.length & 511)])
}

export function sha256Hex(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex')
}
