// Pins the internals of busboy that src/http/intake/multipart.ts uses.

import { expect, test } from 'bun:test'
import { EventEmitter } from 'node:events'
import { Busboy, Dicer } from '@fastify/busboy'
import { watchParts } from '../../../src/http/intake/multipart.ts'
import { BOUNDARY, multipart } from '../../contract/multipart.ts'

const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

test('busboy keeps its inner parser, a Dicer, in the property that watchParts reads', () => {
  const busboy = new Busboy({ headers })
  const within = (busboy as unknown as { _parser: { parser: unknown } })._parser.parser
  expect(within).toBeInstanceOf(Dicer)
  expect(within).toBeInstanceOf(EventEmitter)
})

test('the headers of a part are known before busboy hands the part over', async () => {
  const busboy = new Busboy({ headers, isPartAFile: () => true })
  const begun = watchParts(busboy)
  const seen: unknown[] = []
  busboy.on('file', (name, content) => {
    seen.push([name, { ...begun }])
    content.resume()
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  busboy.on('finish', () => resolve())
  busboy.end(
    multipart([
      { name: 'a', content: '1' },
      { name: 'b', content: '2', disposition: 'filename="b.txt"', headers: ['Content-Type: text/plain'] },
    ]),
  )
  await promise
  expect(seen).toEqual([
    ['a', { count: 1, open: 1, claimsType: false, disposition: 'form-data; name="a"' }],
    ['b', { count: 2, open: 2, claimsType: true, disposition: 'form-data; name="b"; filename="b.txt"' }],
  ])
})

test('a part that busboy skips is counted', async () => {
  const busboy = new Busboy({ headers, isPartAFile: () => true })
  const begun = watchParts(busboy)
  let handedOver = 0
  busboy.on('file', (_name, content) => {
    handedOver += 1
    content.resume()
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  busboy.on('finish', () => resolve())
  busboy.end(Buffer.from(`--${BOUNDARY}\r\nContent-Type: text/plain\r\n\r\n1\r\n--${BOUNDARY}--\r\n`))
  await promise
  expect([begun.count, handedOver]).toEqual([1, 0])
})
