// `oncebox desktop`: "Share through Oncebox" in the menus of file managers, for this person alone.

import { command } from '../command.ts'
import { ReportedFailure } from '../failures.ts'

const load = () => import('../desktop/desktop.ts')

export const DESKTOP = [
  command({ name: 'desktop', heading: 'Share and open:' }),
  command({ name: 'desktop install', act: async ({ shell }) => (await load()).install(shell) }),
  command({ name: 'desktop uninstall', act: async ({ shell }) => (await load()).uninstall(shell) }),
  command({
    name: 'desktop status',
    act: async ({ shell }) => {
      if (!(await load()).status(shell)) throw new ReportedFailure(1)
    },
  }),
]
