// A bucket of a real S3 server, with the tests for every store of sealed files. SQLite stores the rows.

import { afterAll, beforeAll, describe } from 'bun:test'
import { openBucket } from '../../../src/store/s3/bucket.ts'
import { openTestBucket, type TestBucket } from '../../support/bucket.ts'
import { openTestStore } from '../../support/store.ts'
import type { OpenedEngine } from '../conformance/engine.ts'
import { describeFilesOfPushes, describeSealedFiles, type OpenFiles } from '../conformance/files.ts'

let bucket: TestBucket
beforeAll(async () => {
  bucket = await openTestBucket()
})
afterAll(() => bucket.close())

let opened = 0

/** Opens each store in a separate folder. */
const openFiles: OpenFiles = () => {
  opened += 1
  const { files } = openBucket({
    ...bucket.settings,
    tag: `tag${opened}`,
    onWarning: () => undefined,
  })
  return { files, close: () => undefined }
}

async function openEngine(): Promise<OpenedEngine> {
  const options = { bucket: bucket.settings }
  let engine = await openTestStore(options)
  const { clock, dataDir } = engine
  return {
    get store() {
      return engine.store
    },
    clock,
    reopen: async () => {
      await engine.store.close()
      engine = await openTestStore({ ...options, dataDir, clock })
    },
    close: () => engine.close(),
  }
}

describe('sealed files in a bucket', () => describeSealedFiles(openFiles))
describe('the files of pushes in a bucket', () => describeFilesOfPushes(openEngine))
