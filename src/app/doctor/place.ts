// The options of the doctor's checks.

import type { Network } from '../../app.ts'
import type { Now } from '../../domain/time.ts'
import type { Looked } from '../../operating/health.ts'
import type { Config } from '../../settings/table.ts'
import type { DataFolder } from '../../store/folder/data-folder.ts'

export type DoctorOptions = {
  config: Config
  version: string
  now: Now
  network: Network
  /** Whether to read the whole database and every sealed file. */
  isDeep?: boolean
}

/** The data folder to check. `isUsable`: it exists and belongs to the user of this process. */
export type DoctorTarget = DoctorOptions & { folder: DataFolder; isUsable: boolean; isServed: boolean }

export type PlaceChecks = Record<string, (place: DoctorTarget) => Promise<Looked> | Looked>
