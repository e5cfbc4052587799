package sqlitestore

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// networkFS returns "a share" if folder, an absolute path, is on another host: in a share, as
// \\HOST\SHARE or under the letter of a drive. It returns "" if folder is on a local disk.
func networkFS(folder string) string {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(folder) + `\`)
	if err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "a share"
	}
	return ""
}
