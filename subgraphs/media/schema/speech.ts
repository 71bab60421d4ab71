import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { startMutation, vendorOptions } from './start-mutation.ts';

const SpeechInput = builder.inputType('SpeechInput', {
  description: 'What to say, and in which voice.',
  fields: (t) => ({
    generator: t.string({ required: true, description: 'Who speaks, such as agg/speech_router.' }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    text: t.string({ required: true, description: 'What to say.' }),
    voiceId: t.id({ required: true, description: 'One of `voices(generator)`.' }),
    speed: t.float({ description: '1 is normal.' }),
    pitch: t.float({ description: 'Semitones up or down; 0 is normal.' }),
    volume: t.float({ description: '1 is normal.' }),
    emotion: t.string({ description: 'An emotion that the model supports.' }),
    format: t.string({ description: 'mp3, wav, or another the model names.' }),
    ...vendorOptions(t),
  }),
});

const VoiceCloneInput = builder.inputType('VoiceCloneInput', {
  description: 'A recording of a voice, and the name of the new voice.',
  fields: (t) => ({
    generator: t.string({ required: true, description: 'Who makes the voice, such as agg/speech_router.' }),
    model: t.string({ description: "Which of the generator's models speaks the demo." }),
    sample: t.field({
      type: MediaInput,
      required: true,
      description: 'A recording of the voice; the id of what uploadVoiceSample answered is a fileId too.',
    }),
    voiceId: t.id({ description: 'The id of the new voice; absent means one is generated.' }),
    name: t.string({ description: 'A name for people.' }),
    text: t.string({ description: 'What the demo says; absent means no demo.' }),
    ...vendorOptions(t),
  }),
});

startMutation('synthesizeSpeech', SpeechInput, {
  description: 'Starts turning text into speech.',
  inputDescription: 'What to say.',
});

startMutation('cloneVoice', VoiceCloneInput, {
  description: 'Starts cloning a voice from a recording; the result is a ClonedVoice.',
  inputDescription: 'The sample and the names.',
});
