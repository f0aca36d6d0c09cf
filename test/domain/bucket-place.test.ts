// Parses the URL of a bucket, and never repeats a refused one.

import { expect, test } from 'bun:test'
import { bucketPlaceOf, nameBucket, parseBucketPlace } from '../../src/domain/bucket-place.ts'

test('the URL sets bucket, endpoint, region and style', () => {
  expect(
    bucketPlaceOf('s3://boxes/a/b/?endpoint=https://s3.example:9000/&region=eu-1&path-style=false'),
  ).toEqual({
    endpoint: 'https://s3.example:9000',
    bucket: 'boxes',
    prefix: 'a/b/',
    region: 'eu-1',
    isPathStyle: false,
  })
})

test('a server other than Amazon’s defaults to path style and the default region', () => {
  const place = bucketPlaceOf('s3://boxes?endpoint=http://127.0.0.1:9000')
  expect(place).toMatchObject({ prefix: '', region: 'us-east-1', isPathStyle: true })
  expect(nameBucket(place)).toBe('boxes (127.0.0.1:9000)')
})

test("Amazon's endpoint follows from the region", () => {
  expect(bucketPlaceOf('s3://boxes/a?region=eu-central-1')).toMatchObject({
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
    isPathStyle: false,
  })
})

test.each([
  'https://s3.example/boxes',
  's3://',
  's3://x?region=a',
  's3://boxes',
  's3://key:secret@boxes?region=a',
  's3://boxes:80?region=a',
  's3://boxes?region=a#b',
  's3://boxes/../a?region=a',
  's3://boxes/%2E%2e/a?region=a',
  's3://boxes/a b?region=a',
  's3://boxes?region=a&region=b',
  's3://boxes?region=a&secret=b',
  's3://boxes?endpoint=ftp://s3.example',
  's3://boxes?endpoint=https://s3.example/path',
  's3://boxes?endpoint=https://key:secret@s3.example',
  's3://boxes?region=a&path-style=perhaps',
])('refuses the URL %s', (text) => {
  const parsed = parseBucketPlace(text)
  expect(parsed).toHaveProperty('problem')
  expect(JSON.stringify(parsed)).not.toContain('secret@')
})
