import { createCanvas, ImageData, type Canvas } from '@napi-rs/canvas';

import type { VideoFrames } from '../../decode/video-frames.ts';
import type { FaceBox } from '../../types/media-types.ts';
import type { Size } from '../../types/size.ts';
import { loadPixels } from '../../video/camera.ts';
import type { FrameRenderer, AsyncFrameRenderer } from '../../video/frame-renderer.ts';
import { writeI420 } from '../../video/yuv.ts';
import { drawMouth, type MouthPlace } from '../drawing/draw-mouth.ts';
import { drawLevelBar } from '../drawing/look.ts';
import { frameAt, type VoiceTrack } from './drawn-presenter.ts';

/** The plan of a talking image. */
export interface TalkingImagePlan {
  readonly image: Uint8Array;
  /** The known face: a mouth is drawn there. */
  readonly face: FaceBox | null;
  readonly size: Size;
}

/** An image that zooms with the loudness of the voice and drifts a little. Throws UNREADABLE_MEDIA. */
export async function createTalkingImage(
  { image, face, size }: TalkingImagePlan,
  performance: VoiceTrack,
): Promise<FrameRenderer> {
  const { width, height } = size;
  const { canvas: still, whole } = await openImage(image, size);
  const place = face === null ? null : mouthIn(face, whole, size);
  const zooms = zoomTrack(performance);
  const canvas = createCanvas(width, height);
  const brush = canvas.getContext('2d');
  return {
    draw(moment, frame) {
      const { index, mouth } = frameAt(performance, moment);
      const seconds = index / performance.framesPerSecond;
      const zoom = zooms[index] ?? 1;
      const left = (-width * (zoom - 1)) / 2 + Math.sin(seconds * 0.7) * width * 0.005;
      const top = (-height * (zoom - 1)) / 2 + Math.sin(seconds * 1.1) * height * 0.004;
      brush.setTransform(zoom, 0, 0, zoom, left, top);
      brush.drawImage(still, 0, 0);
      if (place !== null) drawMouth(brush, place, mouth);
      brush.resetTransform();
      drawLevelBar(brush, size, performance.track, index);
      writeI420(canvas.data(), size, frame);
    },
  };
}

/** The zoom of every frame, by the voice. At least 1.03, so that the drift shows no edge. */
function zoomTrack({ track }: VoiceTrack): number[] {
  let zoom = 1.03;
  return track.map(({ level }) => {
    zoom += (1.03 + 0.045 * level - zoom) * 0.35;
    return zoom;
  });
}

/** The image scaled to cover the frame, and its uncropped size. */
async function openImage(image: Uint8Array, size: Size): Promise<{ canvas: Canvas; whole: Size }> {
  const { rgba, whole } = await loadPixels(image, size);
  const canvas = createCanvas(size.width, size.height);
  canvas.getContext('2d').putImageData(new ImageData(rgba, size.width, size.height), 0, 0);
  return { canvas, whole };
}

/** The position of the mouth in a face: three quarters down, a third as wide. Relative to the middle, which cropping keeps. */
function mouthIn(face: FaceBox, whole: Size, size: Size): MouthPlace {
  return {
    x: size.width / 2 + (face.x + face.width / 2 - 0.5) * whole.width,
    y: size.height / 2 + (face.y + face.height * 0.76 - 0.5) * whole.height,
    reach: face.width * whole.width * 0.2,
  };
}

/** A video that covers the frame and zooms with the loudness of the voice. */
export function createTalkingVideo(
  images: VideoFrames,
  size: Size,
  performance: VoiceTrack,
): AsyncFrameRenderer {
  const { width, height } = size;
  const scale = Math.max(width / images.size.width, height / images.size.height);
  const zooms = zoomTrack(performance);
  const canvas = createCanvas(width, height);
  const brush = canvas.getContext('2d');
  return {
    async draw(moment, frame) {
      const { index } = frameAt(performance, moment);
      const image = await images.at(index / performance.framesPerSecond);
      const zoom = scale * (zooms[index] ?? 1);
      const [wide, high] = [image.width * zoom, image.height * zoom];
      brush.drawImage(image, (width - wide) / 2, (height - high) / 2, wide, high);
      drawLevelBar(brush, size, performance.track, index);
      writeI420(canvas.data(), size, frame);
    },
  };
}
