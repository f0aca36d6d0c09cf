// The script that encrypts and decrypts. Import it on demand, because it is large.

import { bundleForBrowser } from './browser-bundles.ts' with { type: 'macro' }

export const ageScript = bundleForBrowser('sealed/age.js')
