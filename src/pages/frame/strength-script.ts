// The script that rates passwords. Import it on demand, because it contains long word lists.

import { bundleForBrowser } from './browser-bundles.ts' with { type: 'macro' }

export const strengthScript = bundleForBrowser('strength.js')
