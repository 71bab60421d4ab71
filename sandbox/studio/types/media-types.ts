/** The media that the studio makes and measures besides images: videos, speech, voices, facts. */

/** A video to be rendered. */
export interface VideoRequest {
  readonly prompt: string;
  /** The same seed and request make the same bytes; a hash of the prompt when absent. */
  readonly seed?: number;
  /** `W:H`, between 1:4 and 4:1; the first frame's own when absent, else 16:9. */
  readonly aspectRatio?: string;
  /** The shorter edge in pixels, 144 to 1080 (default 720); a small studio makes at most 360. */
  readonly resolution?: number;
  /** 1 to 30 (default 5). */
  readonly durationSeconds?: number;
  /** PNG, JPEG or WebP. Alone: the camera moves over it. With a last frame: it is the first image, exactly. */
  readonly firstFrame?: Uint8Array;
  /** The last image; alone the video leads to it. */
  readonly lastFrame?: Uint8Array;
  /** Adds quiet chords; no audio track when absent or null. */
  readonly soundtrack?: 'ambient' | null;
}

/** An MP4 with H.264, and AAC when there is a soundtrack; it can be played while it loads. */
export interface StudioVideo {
  readonly bytes: Buffer;
  readonly contentType: 'video/mp4';
  /** Always even. */
  readonly width: number;
  readonly height: number;
  /** Seconds of the whole file. */
  readonly duration: number;
  readonly framesPerSecond: number;
  readonly hasSound: boolean;
  readonly seed: number;
  /** A JPEG of a frame from its middle, as large as the video. */
  readonly poster: Buffer;
}

/** A talking video: exactly one of `audio` and `text`, at most one of `image` and `video`. */
export interface PresenterRequest {
  /** PNG, JPEG or WebP; it moves with the voice. */
  readonly image?: Uint8Array;
  /** An MP4, WebM or another file with images; it gets the new sound, repeated or cut to its length. */
  readonly video?: Uint8Array;
  /** MP3 or WAV (others with the optional decoders), at most 60 seconds. */
  readonly audio?: Uint8Array;
  /** What is spoken when there is no audio; at most 60 seconds of speech. */
  readonly text?: string;
  /** Who speaks the text; `slt` when absent. */
  readonly voice?: StudioVoiceId | MatchedVoice;
  /** The title of the video, and what the drawn presenter stands before. */
  readonly prompt?: string;
  /** The same seed and request make the same bytes; a hash of the prompt when absent. */
  readonly seed?: number;
  /** `W:H`, between 1:4 and 4:1; the image's or video's own when absent, else 9:16. A copied video keeps its own. */
  readonly aspectRatio?: string;
  /** The shorter edge in pixels, 144 to 1080 (default 720); a small studio makes at most 360. A copied video keeps its own. */
  readonly resolution?: number;
}

/** A video of somebody talking: H.264 (or, copied, what it was) with AAC; it lasts as long as the speech, at most 60 seconds. */
export interface StudioPresenter extends StudioVideo {
  /** False when an uploaded video could not be decoded and its packets were copied under the new sound. */
  readonly redrawn: boolean;
  /** What the video does not show, for whoever asked: no mouth moves in an image without a face box, and so on; null when there is nothing to say. */
  readonly note: string | null;
}

/** What an image's file says about the people in it. */
export interface PersonDetection {
  /** True when the file declares a person; null when it declares nothing. Never false: nothing is recognised here. */
  readonly hasPerson: boolean | null;
  /** Why, in a sentence. */
  readonly reason: string;
  /** Who was declared, at most 50: names and face boxes as far as the file has them. */
  readonly subjects: readonly DepictedPerson[];
}

/** One person as the file declares it. */
export interface DepictedPerson {
  readonly name: string | null;
  /** Of the image as it is shown: its left upper corner and its size, each from 0 to 1. */
  readonly box: FaceBox | null;
}

/** A part of an image in shares of its width and height, 0 to 1. */
export interface FaceBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A text to be spoken. */
export interface SpeechRequest {
  /** At most 10,000 characters. Spoken as English; other scripts by their Latin letters, see `omitted`. */
  readonly text: string;
  /** One of `voices()`, or what `matchVoice` found; `slt` when absent. */
  readonly voice?: StudioVoiceId | MatchedVoice;
  /** 0.25 to 4; 1 when absent. */
  readonly speed?: number;
  /** Semitones up or down, -12 to 12; 0 when absent. */
  readonly pitch?: number;
  readonly format: SpeechFormat;
}

/** `pcm`: the samples alone, 16-bit little endian. */
type SpeechFormat = 'mp3' | 'wav' | 'flac' | 'pcm';

/** The text, spoken. */
export interface StudioSpeech {
  readonly bytes: Buffer;
  readonly contentType: 'audio/mpeg' | 'audio/wav' | 'audio/flac' | 'audio/pcm';
  /** Seconds. */
  readonly duration: number;
  /** How many characters the text has (code points). */
  readonly characters: number;
  /** Letters of the text that have no Latin ones and so cannot be spoken, the first 200; null when there are none. */
  readonly omitted: string | null;
}

/** The voices of the engine. */
export type StudioVoiceId = 'slt' | 'rms' | 'awb' | 'kal16' | 'kal';

/** Who can speak. */
export interface StudioVoice {
  readonly id: StudioVoiceId;
  /** For people. */
  readonly name: string;
  /** BCP 47. */
  readonly language: string;
  readonly gender: 'female' | 'male';
  readonly description: string;
}

/**
 * A base voice turned towards a sample. This is voice matching (measured pitch, resonance and tempo), no cloning by a
 * neural model: a listener will not take it for the speaker. Plain JSON: it may be stored and given to `speech` later.
 */
export interface MatchedVoice {
  readonly baseVoice: StudioVoiceId;
  /** Mean pitch in Hz. */
  readonly pitch: number;
  /** How far the pitch wanders, standard deviation in Hz. */
  readonly pitchSpread: number;
  /** Resonances relative to the base voice, 0.85 to 1.18. */
  readonly formant: number;
  /** Durations relative to the base voice, 0.7 to 1.5: above 1 is slower. */
  readonly tempo: number;
  readonly measured: VoiceMeasures;
}

/** What was measured in a sample of a voice. */
export interface VoiceMeasures {
  /** Median pitch in Hz. */
  readonly pitch: number;
  /** Standard deviation of the pitch in octaves. */
  readonly pitchSpread: number;
  /** Median of the first three resonances in Hz. */
  readonly formants: readonly number[];
  /** Syllables a second while speaking. */
  readonly syllableRate: number;
  /** Share of the sample that has a pitch, 0 to 1. */
  readonly voicedShare: number;
  /** Seconds that were measured; only the first 30 are. */
  readonly duration: number;
}

/** What a file is, read from the file itself. */
export interface MediaFacts {
  readonly kind: 'image' | 'video' | 'audio';
  /** What its bytes say, whatever it was called: image/png, video/mp4, audio/mpeg, ... */
  readonly contentType: string;
  /** png, mp4, webm, mp3, wav, ... */
  readonly container: string;
  readonly byteLength: number;
  /** Seconds; null for an image. */
  readonly duration: number | null;
  /** As shown, turned as the file says; null for sound. */
  readonly width: number | null;
  readonly height: number | null;
  readonly framesPerSecond: number | null;
  /** avc, hevc, vp9, av1, ...; null when there is none or it is not known. */
  readonly videoCodec: string | null;
  /** aac, mp3, opus, pcm-s16, ... */
  readonly audioCodec: string | null;
  readonly sampleRate: number | null;
  readonly channels: number | null;
  /** What the file calls itself. */
  readonly title: string | null;
}

/** Facts of a file and one paragraph of them: what a stand-in for a language model knows about it. */
export interface Analysis {
  readonly facts: MediaFacts;
  /** Full sentences of what was measured; it says that nothing is recognised. */
  readonly summary: string;
}

/** A small image that stands for a file. */
export interface StudioThumbnail {
  readonly bytes: Buffer;
  readonly contentType: 'image/jpeg' | 'image/png';
  readonly width: number;
  readonly height: number;
  /** The image itself; the cover inside the file; the wave of its sound; or a drawn card with its facts. */
  readonly source: 'image' | 'cover' | 'waveform' | 'card';
}

/**
 * The studio will not do this, and asking again changes nothing: the file cannot be read (UNREADABLE_MEDIA), it has no
 * clear voice (NO_VOICE), there is nothing in the text that this engine can speak (NOTHING_TO_SPEAK), or a value is out
 * of its range (OUT_OF_RANGE). The message is fit for whoever asked.
 */
export class StudioError extends Error {
  readonly code: StudioErrorCode;

  constructor(code: StudioErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StudioRefusal';
    this.code = code;
  }
}

/** Why the studio can't do what is asked. */
export type StudioErrorCode = 'UNREADABLE_MEDIA' | 'NO_VOICE' | 'NOTHING_TO_SPEAK' | 'OUT_OF_RANGE';
