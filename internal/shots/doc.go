// Package shots holds no code but a test that runs the built program's demo on a terminal,
// and the pictures of the README and of internal/help that it draws: make shots. They show what the
// terminal's cells held, at moments that the test waits for; times, processes and ports are
// others each time.
//
// It may import nothing of this module.
package shots
