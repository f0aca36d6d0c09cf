// What is read from the answers of a store, whatever it answers.

import { expect, test } from 'bun:test'
import { createObjects } from '../../../src/store/s3/objects.ts'
import type { S3Request } from '../../../src/store/s3/signed-requests.ts'

function answering(answers: string[], more: Record<string, string> = {}) {
  const asked: S3Request[] = []
  const headers = new Headers({ date: 'Sun, 22 Nov 2026 10:00:00 GMT', ...more })
  const send = async (request: S3Request) => {
    asked.push(request)
    const body = answers.length > 1 ? answers.shift() : answers[0]
    return { headers, body: Buffer.from(body ?? '') }
  }
  return { asked, ...createObjects({ send }) }
}

const upload = (key: string, id: string) =>
  `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>2026-11-22T09:00:00.000Z</Initiated></Upload>`
const more = (key: string, id: string) =>
  `<IsTruncated>true</IsTruncated><NextKeyMarker>${key}</NextKeyMarker><NextUploadIdMarker>${id}</NextUploadIdMarker>`

test('unfinished uploads are listed page by page', async () => {
  const { listUploads, asked } = answering([
    `<R>${more('p/a', '1')}${upload('p/a', '1')}</R>`,
    `<R><IsTruncated>false</IsTruncated><NextKeyMarker/>${upload('p/b', '2')}</R>`,
  ])
  const first = await listUploads('p/', null)
  expect(first).toMatchObject({ items: [{ key: 'p/a', uploadId: '1' }], next: { key: 'p/a', uploadId: '1' } })
  expect(await listUploads('p/', first.next)).toMatchObject({ items: [{ key: 'p/b' }], next: null })
  expect(asked[1]?.query).toMatchObject({ 'key-marker': 'p/a', 'upload-id-marker': '1', prefix: 'p/' })
})

test('a listing that begins again where it should go on is given up', async () => {
  const uploads = answering([`<R>${more('p/a', '1')}</R>`])
  const { next } = await uploads.listUploads('p/', null)
  await expect(uploads.listUploads('p/', next)).rejects.toThrow('begins again')
  const objects = answering(['<R><NextContinuationToken>x</NextContinuationToken></R>'])
  const page = await objects.list('p/', null)
  await expect(objects.list('p/', page.next)).rejects.toThrow('begins again')
})

test('a bucket that keeps versions says so with each object that it takes', async () => {
  const versionId = (id: string) => answering([''], { 'x-amz-version-id': id })
  expect(await answering(['']).put('k', Buffer.from('x'))).toEqual({ isVersioned: false })
  expect(await versionId('3HL4kqtJ').put('k', Buffer.from('x'))).toEqual({ isVersioned: true })
  // Of a bucket whose versioning is suspended.
  expect(await versionId('null').put('k', Buffer.from('x'))).toEqual({ isVersioned: false })
})
