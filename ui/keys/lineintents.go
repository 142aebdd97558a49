package keys

// The intents of commands, menus and marks.
const (
	Command  Intent = "command"
	Run      Intent = "run"
	GiveUp   Intent = "leave-line"
	Earlier  Intent = "earlier-line"
	Later    Intent = "later-line"
	FilterBy Intent = "filter-by"
	SourceIs Intent = "source"
	SortBy   Intent = "sort-by"
	UTC      Intent = "utc"
	KnowBy   Intent = "know"
	MuteBy   Intent = "mute"
	Mutes    Intent = "mutes"

	AcquireBy  Intent = "acquire-by-name"
	CampaignBy Intent = "campaign-by-name"
	KeepScreen Intent = "quit-leaving-text"
	QuitText   Intent = "quit-and-leave-text"
	Theme      Intent = "theme"
	Next       Intent = "next-match"
	Previous   Intent = "previous-match"
	Mark       Intent = "mark"
	Unmark     Intent = "clear-marks"
	SameOwner  Intent = "same-owner"
	Width      Intent = "width"
	Mouse      Intent = "mouse"
	Copy       Intent = "copy"
	Export     Intent = "export"

	CopyName    Intent = "copy-name"
	CopyOwner   Intent = "copy-owner"
	CopyJSON    Intent = "copy-json"
	CopyCommand Intent = "copy-command"
	CopyDrill   Intent = "copy-drill"
	ExportText  Intent = "export-text"
	ExportJSON  Intent = "export-json"

	ExportCSV      Intent = "export-csv"
	ExportMarkdown Intent = "export-markdown"
	ExportSVG      Intent = "export-svg"
)

// lineBindings returns the bindings of typed lines, menus and marks.
func lineBindings() []Binding {
	return append([]Binding{
		{Command, InViews, []string{":"}, "command", "type a command"},
		{SameOwner, inRow, []string{"*"}, "same owner", "only rows of this owner; again: as before"},
		{Next, InLocks, []string{"n"}, "", "next row that fits the last filter"},
		{Previous, InLocks, []string{"N"}, "", "previous row that fits the last filter"},
		{Next, InPulse, []string{"n"}, "next problem", "next problem; on from the last to the first"},
		{Previous, InPulse, []string{"N"}, "", "previous problem"},
		{Mark, InLocks, []string{"space"}, "", "mark the row, or no more; marks stay with their rows"},
		{Unmark, InLocks, []string{"u"}, "", "clear all marks"},
		{Copy, inRow, []string{"y"}, "copy", "copy name, owner, JSON or command (or of marked rows)"},
		{Copy, InPulse, []string{"y"}, "copy", "copy what is wrong, why, and what to do next, as text"},
		{Export, InLocks | InAudit | InTimeline, []string{"e"}, "export", "write what is shown, or is marked, to a file here"},
		{Mouse, InScreens, []string{"m", ":mouse"}, "", "mouse on or off; off, the terminal selects text"},
		{FilterBy, InCommand, []string{":filter EXPR"}, "", "show only what is asked for; nothing: all"},
		{SourceIs, InCommand, []string{":source NAME|all"}, "", "only rows of that source"},
		{SortBy, InCommand, []string{":sort COLUMN"}, "", "order the list; the same again reverses"},
		{KnowBy, InCommand, []string{":know WORD LENGTH"}, "", "acknowledge the problem under the cursor: a word for others, and for how long"},
		{MuteBy, InCommand, []string{":mute FILTER LENGTH"}, "", "do not count the problems of what the filter selects, for 1h or so long"},
		{Mutes, InCommand, []string{":mutes"}, "", "what is muted, until when, by whom; enter ends one"},
		{AcquireBy, InCommand, []string{":acquire NAME"}, "", "open the box that acquires the row of that name"},
		{CampaignBy, InCommand, []string{":campaign NAME"}, "", "open the box that campaigns for the row of that name"},
		{UTC, InCommand, []string{":utc"}, "", "times in UTC or in the local zone"},
		{Theme, InCommand, []string{":theme NAME"}, "", "auto, dark or light"},
		{Run, InCommand | InHelp | InHelpText, []string{"enter"}, "run", "run the line, open the topic; letters typed in this help look for words"},
		{GiveUp, InCommand | InHelpText, []string{"esc"}, "leave", "leave the line"},
		{Earlier, InCommand, []string{"up"}, "", "the command before"},
		{Later, InCommand, []string{"down"}, "", "the command after"},
		{Up, InHelpText, []string{"up"}, "", "one line up"},
		{Down, InHelpText, []string{"down"}, "", "one line down"},
		{PageUp, InHelpText, []string{"pgup"}, "", "a page up"},
		{PageDown, InHelpText, []string{"pgdown"}, "", "a page down"},
	}, menuBindings()...)
}

// menuBindings returns the bindings of the menus of orders, copies and exports.
func menuBindings() []Binding {
	return []Binding{
		{"sort-by-problems", InSort, []string{"p"}, "problems", "what is wrong first"},
		{"sort-by-name", InSort, []string{"n"}, "name", "by name"},
		{"sort-by-source", InSort, []string{"s"}, "source", "by source"},
		{"sort-by-kind", InSort, []string{"k"}, "kind", "by kind"},
		{"sort-by-owner", InSort, []string{"o"}, "owner", "by owner"},
		{"sort-by-since", InSort, []string{"t"}, "since", "the newest first"},
		{"sort-by-lease", InSort, []string{"l"}, "lease", "the least left first"},
		{"sort-by-wait", InSort, []string{"w"}, "wait", "the longest wait first"},
		{"sort-by-changes", InSort, []string{"c"}, "changes", "most changes first"},
		{CopyName, InCopy, []string{"n"}, "name", "ask the terminal to copy the name"},
		{CopyOwner, InCopy, []string{"o"}, "owner", "ask the terminal to copy the owner"},
		{CopyJSON, InCopy, []string{"j"}, "JSON", "ask the terminal to copy what get -o json prints"},
		{CopyCommand, InCopy, []string{"c"}, "command", "ask the terminal to copy the command that shows this"},
		{CopyDrill, InCopy, []string{"d"}, "drill", "ask the terminal to copy the command that drills this election"},
		{QuitText, InKeep, []string{"y"}, "quit; any other key stays", "quit, and leave what is shown as text"},
		{ExportText, InExport | InPicture, []string{"t"}, "text", "write a table, or the Timeline as it is shown"},
		{ExportSVG, InPicture, []string{"s"}, "SVG", "write the lanes that are shown as a picture, as a report has it"},
		{ExportJSON, InExport, []string{"j"}, "JSON lines", "write one JSON object a row"},
		{ExportCSV, InExport, []string{"c"}, "CSV", "write a table for a spreadsheet"},
		{ExportMarkdown, InExport, []string{"m"}, "Markdown", "write a table for a ticket"},
	}
}
