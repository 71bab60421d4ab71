import type {
  Analysis,
  MatchedVoice,
  MediaFacts,
  PersonDetection,
  PresenterRequest,
  SpeechRequest,
  StudioPresenter,
  StudioSpeech,
  StudioThumbnail,
  StudioVideo,
  StudioVoice,
  VideoRequest,
} from './media-types.ts';

/**
 * The renderer behind the stand-ins: real media, made here, without a network and without a model. Everything rejects
 * when the signal fires, the renderer dies or the time is over, and with StudioRefusal where asking again is no use.
 */
export interface Studio {
  /** Renders an image. */
  image(request: ImageRequest, options?: StudioCallOptions): Promise<StudioImage>;
  /** Measures an image and puts that in words. Rejects with UnreadableImage when it is none. */
  describe(image: Uint8Array, options?: StudioCallOptions): Promise<Description>;
  /** Renders a video: of the prompt's scene, of a camera over the first frame, or from the first frame to the last. */
  video(request: VideoRequest, options?: StudioCallOptions): Promise<StudioVideo>;
  /** Speaks a text. NOTHING_TO_SPEAK when no word of it can be spoken: never silence instead. */
  speech(request: SpeechRequest, options?: StudioCallOptions): Promise<StudioSpeech>;
  /** The voices that `speech` has. */
  voices(): readonly StudioVoice[];
  /** Measures the voice in an MP3 or WAV and turns the nearest base voice towards it; the same sample gives the same answer. */
  matchVoice(sample: Uint8Array, options?: StudioCallOptions): Promise<MatchedVoice>;
  /** A talking video. Of nothing: a drawn presenter whose mouth follows the speech. Of an image: the image moved by the voice, a mouth drawn on it only where a face box is known. Of a video: the same video with the new sound. */
  presenter(request: PresenterRequest, options?: StudioCallOptions): Promise<StudioPresenter>;
  /** Whether an image shows a person. True only when the file declares it; otherwise null with the reason: nothing is recognised here. UNREADABLE_MEDIA when it is no image. */
  detectPerson(image: Uint8Array, options?: StudioCallOptions): Promise<PersonDetection>;
  /** Reads what an image, video or sound is from its bytes. UNREADABLE_MEDIA when it is none. */
  probe(media: Uint8Array, options?: StudioCallOptions): Promise<MediaFacts>;
  /** Puts into words what can be measured in an image, video or sound. */
  analyse(media: Uint8Array, options?: StudioCallOptions): Promise<Analysis>;
  /** A small image that stands for an image, video or sound. */
  thumbnail(media: Uint8Array, options?: StudioCallOptions): Promise<StudioThumbnail>;
  /** Ends the workers; what is still being rendered is rejected. */
  close(): Promise<void>;
}

export interface StudioCallOptions {
  /** 0 to 100 and what is being drawn. */
  readonly onProgress?: (percent: number, stage: string) => void;
  readonly signal?: AbortSignal;
}

/** Images that are blended into one at most. */
export const MOST_REFERENCES = 5;

/** An image to be rendered. */
export interface ImageRequest {
  readonly prompt: string;
  /** The same seed and prompt make the same pixels; a hash of the prompt when absent. */
  readonly seed?: number;
  /** `W:H`, between 1:4 and 4:1; 1:1 when absent. */
  readonly aspectRatio?: string;
  /** Exact size in pixels; wins over the aspect ratio. */
  readonly size?: { readonly width: number; readonly height: number };
  /** PNG when absent. */
  readonly format?: ImageFormat;
  /** Images that are blended in, at most MOST_REFERENCES. */
  readonly references?: readonly Uint8Array[];
  /** Whether the words that the prompt has in quotation marks are written at the foot of the image; yes when absent. */
  readonly hasCaption?: boolean;
}

/** The formats that images are encoded in. */
export type ImageFormat = 'png' | 'jpeg' | 'webp';

/** The image, rendered. */
export interface StudioImage {
  readonly bytes: Buffer;
  readonly contentType: `image/${ImageFormat}`;
  readonly width: number;
  readonly height: number;
  readonly seed: number;
  /** A small blurred WebP of the same image, shown while the job runs. */
  readonly preview: Buffer;
}

/** The measurements of an image; nothing is recognized. */
export interface Description {
  /** Four prompts that could lead to an image like this. */
  readonly prompts: readonly string[];
  /** A sentence with the measurements. */
  readonly caption: string;
  /** A note that nothing is recognized, or the file's own description. */
  readonly note: string;
  readonly width: number;
  readonly height: number;
  /** png, jpeg, webp, ... */
  readonly format: string;
  /** Largest share first. */
  readonly palette: readonly { readonly name: string; readonly hex: string; readonly share: number }[];
}

/** The bytes are not a readable image. */
export class UnreadableImage extends Error {
  constructor(cause: unknown) {
    super('the image cannot be read', { cause });
    this.name = 'UnreadableImage';
  }
}
