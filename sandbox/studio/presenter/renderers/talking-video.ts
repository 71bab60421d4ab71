import { createCanvas } from '@napi-rs/canvas';

import type { VideoFrames } from '../../decode/video-frames.ts';
import type { Size } from '../../types/size.ts';
import type { AsyncFrameRenderer } from '../../video/frame-renderer.ts';
import { writeI420 } from '../../video/yuv.ts';
import { drawLevelBar } from '../drawing/level-bar.ts';
import { frameAt } from './drawn-presenter.ts';
import type { VoiceTrack } from './drawn-presenter.ts';
import { zoomTrack } from './talking-image.ts';

/** A video that covers the frame and zooms with the loudness of the voice. */
export function createTalkingVideo(
  pictures: VideoFrames,
  size: Size,
  performance: VoiceTrack,
): AsyncFrameRenderer {
  const { width, height } = size;
  const scale = Math.max(width / pictures.size.width, height / pictures.size.height);
  const zooms = zoomTrack(performance);
  const canvas = createCanvas(width, height);
  const brush = canvas.getContext('2d');
  return {
    async draw(moment, frame) {
      const { index } = frameAt(performance, moment);
      const picture = await pictures.at(index / performance.framesPerSecond);
      const zoom = scale * (zooms[index] ?? 1);
      const [wide, high] = [picture.width * zoom, picture.height * zoom];
      brush.drawImage(picture, (width - wide) / 2, (height - high) / 2, wide, high);
      drawLevelBar(brush, size, performance.track, index);
      writeI420(canvas.data(), size, frame);
    },
  };
}
