// Files that a browser decrypts: a small one that expands to a large one is refused.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { Encrypter } from 'age-encryption'
import { newKey } from '../../src/age/keys.ts'
import { openFile, roomFor } from '../../src/age/sealing.ts'

const SCRIPT = join(import.meta.dir, '../../src/pages/frame/browser/sealed/files.js')
const { createFiles } = await import(SCRIPT)

const MIB = 1024 * 1024

/** Makes a ZIP of one file of zeros. */
function zeros(bytes: number): Buffer {
  const content = Buffer.alloc(bytes)
  const data = deflateRawSync(content, { level: 1 })
  const facts = Buffer.alloc(22)
  facts.writeUInt16LE(8, 4)
  facts.writeUInt32LE(Bun.hash.crc32(content), 10)
  facts.writeUInt32LE(data.length, 14)
  facts.writeUInt32LE(bytes, 18)
  const name = Buffer.from('a')
  const lengths = Buffer.from([name.length, 0, 0, 0])
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, lengths, name])
  const listed = Buffer.concat([Buffer.from('PK\x01\x02\0\0'), facts, lengths, Buffer.alloc(14), name])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(local.length + data.length, 16)
  return Buffer.concat([local, data, listed, end])
}

async function open(bytes: number) {
  const key = await newKey()
  const encrypter = new Encrypter()
  encrypter.addRecipient(key.recipient)
  const sealed = await encrypter.encrypt(zeros(bytes))
  using server = Bun.serve({ port: 0, fetch: () => new Response(Buffer.from(sealed)) })
  const link = { href: server.url.href, dataset: { downloads: String(sealed.length) } }
  const rows = [{ querySelector: () => link }]
  return await createFiles({
    age: { openFile, roomFor },
    guest: null,
    identities: [key.identity],
    rows,
  }).open()
}

test('a small file that holds much is refused above 256 MiB', async () => {
  expect(await open(MIB)).toMatchObject([{ name: 'a', size: MIB }])
  await expect(open(300 * MIB)).rejects.toThrow(`more than ${256 * MIB} bytes`)
}, 60_000)
