// What is read from the answers of a store, whatever they contain.

import { expect, test } from 'bun:test'
import type { Send } from '../../../src/store/s3/client.ts'
import { createObjects } from '../../../src/store/s3/objects.ts'
import type { S3Request } from '../../../src/store/s3/signed-requests.ts'

function answering(answers: string[], more: Record<string, string> = {}) {
  const asked: S3Request[] = []
  const headers = new Headers({ date: 'Sun, 22 Nov 2026 10:00:00 GMT', ...more })
  const send: Send = async (request, _, read) => {
    asked.push(request)
    const body = answers.length > 1 ? answers.shift() : answers[0]
    return read({ headers, body: Buffer.from(body ?? '') })
  }
  return { asked, ...createObjects(send) }
}

test('a bucket that keeps versions reports that with each stored object', async () => {
  const versionId = (id: string) => answering([''], { 'x-amz-version-id': id })
  expect(await answering(['']).put('k', Buffer.from('x'))).toEqual({ isVersioned: false })
  expect(await versionId('3HL4kqtJ').put('k', Buffer.from('x'))).toEqual({ isVersioned: true })
  // An answer of a bucket whose versioning is suspended.
  expect(await versionId('null').put('k', Buffer.from('x'))).toEqual({ isVersioned: false })
})
