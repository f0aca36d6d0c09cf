// What the database knows of its folder in a bucket: the name of the folder, and the bucket that it was in last.

import type { Connection } from '../engine/database.ts'
import { bucketFolder } from '../engine/schema.ts'

export type BucketFolderRow = { tag: string; place: string; isUsed: boolean }

const ID = 1

/** Null when the files were never in a bucket. */
export function readBucketFolder({ orm }: Connection): BucketFolderRow | null {
  return orm.select().from(bucketFolder).get() ?? null
}

export function writeBucketFolder({ orm }: Connection, row: BucketFolderRow): void {
  orm
    .insert(bucketFolder)
    .values({ id: ID, ...row })
    .onConflictDoUpdate({ target: bucketFolder.id, set: row })
    .run()
}
