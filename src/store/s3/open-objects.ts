// What speaks to one bucket: its requests, and whether it works.

import { type BucketPlace, nameBucket } from '../../domain/bucket-place.ts'
import { createClient, type Patience } from './client.ts'
import { createObjects } from './objects.ts'
import { createReachability } from './reachability.ts'
import { type Credentials, createSendOnce } from './signed-requests.ts'

export type OpenObjectsOptions = {
  place: BucketPlace
  credentials: Credentials
  patience?: Patience | undefined
  /** Is given a sentence when the store begins to fail, fails in another way, or works again. */
  onChange?: (sentence: string) => void
}

export function openObjects({
  place,
  credentials,
  patience,
  onChange = () => undefined,
}: OpenObjectsOptions) {
  const name = nameBucket(place)
  const reachability = createReachability({ name, onChange })
  const client = createClient({ sendOnce: createSendOnce(place, credentials), reachability, patience })
  return { name, reachability, objects: createObjects(client), countRequests: client.counts }
}
