import type { VoiceList } from '../contract/provider.ts';

/** Google's prebuilt voices: the wire has no list of them, its documentation does. Each speaks every language. */
const NAMES = [
  'Zephyr',
  'Puck',
  'Charon',
  'Kore',
  'Fenrir',
  'Leda',
  'Orus',
  'Aoede',
  'Callirrhoe',
  'Autonoe',
  'Enceladus',
  'Iapetus',
  'Umbriel',
  'Algieba',
  'Despina',
  'Erinome',
  'Algenib',
  'Rasalgethi',
  'Laomedeia',
  'Achernar',
  'Alnilam',
  'Schedar',
  'Gacrux',
  'Pulcherrima',
  'Achird',
  'Zubenelgenubi',
  'Vindemiatrix',
  'Sadachbia',
  'Sadaltager',
  'Sulafat',
] as const;

/** The voices that `voiceId` takes. */
export const VOICES: VoiceList = {
  voices: NAMES.map((name) => ({ id: name, name, language: null, cloned: false })),
  answer: { voices: [...NAMES] },
};
