import type { SKRSContext2D } from '@napi-rs/canvas';

import { css, disc } from '../../art/painting.ts';
import { drawMouth } from './draw-mouth.ts';
import { eyesAt } from './look.ts';
import type { Look, Pose } from './look.ts';

const ROUND = Math.PI * 2;
const EYE_X = 0.32;
const EYE_Y = -0.08;

/** Eyes, brows, nose and mouth around the middle of a head of this radius. */
export function drawFace(brush: SKRSContext2D, radius: number, look: Look, pose: Pose): void {
  for (const side of [-1, 1]) {
    drawEye(brush, { x: side * EYE_X * radius, y: EYE_Y * radius, radius }, look, pose);
    drawBrow(brush, side, radius, { look, pose });
  }
  if (look.hasGlasses) drawGlasses(brush, radius);
  brush.strokeStyle = 'rgba(60,25,15,.3)';
  brush.lineWidth = radius * 0.03;
  brush.lineCap = 'round';
  brush.beginPath();
  brush.moveTo(radius * 0.02, radius * 0.02);
  brush.quadraticCurveTo(radius * 0.12, radius * 0.24, -radius * 0.03, radius * 0.25);
  brush.stroke();
  drawMouth(brush, { x: 0, y: radius * 0.52, reach: radius * 0.32 }, pose.mouth);
}

function drawEye(
  brush: SKRSContext2D,
  { x, y, radius }: { readonly x: number; readonly y: number; readonly radius: number },
  look: Look,
  { seconds }: Pose,
): void {
  const open = eyesAt(look, seconds);
  brush.save();
  brush.beginPath();
  brush.ellipse(x, y, radius * 0.15, radius * 0.1 * open, 0, 0, ROUND);
  brush.fillStyle = '#fdfbf7';
  brush.fill();
  brush.clip();
  const gaze = x + Math.sin(seconds * 0.6) * radius * 0.025;
  brush.fillStyle = css(look.iris);
  disc(brush, gaze, y, radius * 0.08);
  brush.fillStyle = '#15100e';
  disc(brush, gaze, y, radius * 0.04);
  brush.fillStyle = 'rgba(255,255,255,.85)';
  disc(brush, gaze - radius * 0.025, y - radius * 0.03, radius * 0.016);
  brush.restore();
  brush.strokeStyle = 'rgba(40,20,15,.75)';
  brush.lineWidth = radius * 0.025;
  brush.beginPath();
  brush.ellipse(x, y, radius * 0.15, radius * 0.1 * open, 0, Math.PI, ROUND);
  brush.stroke();
}

/** The brows rise with the voice. */
function drawBrow(
  brush: SKRSContext2D,
  side: number,
  radius: number,
  { look, pose }: { readonly look: Look; readonly pose: Pose },
): void {
  const lift = pose.mouth.level * radius * 0.035;
  brush.strokeStyle = css(look.hair);
  brush.lineWidth = radius * 0.055;
  brush.lineCap = 'round';
  brush.beginPath();
  brush.moveTo(side * radius * 0.18, -radius * 0.27 - lift);
  brush.quadraticCurveTo(
    side * radius * 0.34,
    -radius * 0.35 - lift,
    side * radius * 0.48,
    -radius * 0.26 - lift,
  );
  brush.stroke();
}

function drawGlasses(brush: SKRSContext2D, radius: number): void {
  brush.strokeStyle = 'rgba(30,30,34,.85)';
  brush.lineWidth = radius * 0.035;
  for (const side of [-1, 1]) {
    brush.beginPath();
    brush.ellipse(side * EYE_X * radius, EYE_Y * radius, radius * 0.22, radius * 0.18, 0, 0, ROUND);
    brush.stroke();
  }
  brush.beginPath();
  brush.moveTo(-radius * 0.1, EYE_Y * radius);
  brush.lineTo(radius * 0.1, EYE_Y * radius);
  brush.stroke();
}
