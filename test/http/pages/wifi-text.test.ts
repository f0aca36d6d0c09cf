// The text that joins a Wi-Fi network, as cameras read it.

import { expect, test } from 'bun:test'
import { type Wifi, wifiText } from '../../../src/http/pages/share/create/wifi-text.ts'

const WIFI: Wifi = { network: 'office', password: 'k3m9-qx2v', type: 'WPA', isHidden: false }

test.each<[Partial<Wifi>, string]>([
  [{}, 'WIFI:T:WPA;S:office;P:k3m9-qx2v;;'],
  [{ type: 'WEP' }, 'WIFI:T:WEP;S:office;P:k3m9-qx2v;;'],
  [{ isHidden: true }, 'WIFI:T:WPA;S:office;P:k3m9-qx2v;H:true;;'],
  [{ type: 'nopass' }, 'WIFI:T:nopass;S:office;;'],
  [{ network: 'büro 🔑', password: ' pass word ' }, 'WIFI:T:WPA;S:büro 🔑;P: pass word ;;'],
  [{ network: 'a;b,c:d"e\\f' }, String.raw`WIFI:T:WPA;S:a\;b\,c\:d\"e\\f;P:k3m9-qx2v;;`],
  [{ password: String.raw`\;` }, String.raw`WIFI:T:WPA;S:office;P:\\\;;;`],
  [{ password: '12345678' }, 'WIFI:T:WPA;S:office;P:12345678;;'],
])('%p', (changes, text) => {
  expect(wifiText({ ...WIFI, ...changes })).toBe(text)
})
