-- Moves a ball.
local ball = { x = 0, y = 0 }

function ball.move(dx, dy)
  ball.x = ball.x + dx
  ball.y = ball.y + dy
end

return ball
