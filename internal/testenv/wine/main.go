// Command wine prepares the tests of Windows programs under Wine 8. Its arguments are a
// folder, into which it writes two files, and the folder of Go:
//
//	bcryptprimitives.dll  which programs of Go need and Wine 8 lacks
//	overlay.json          for "go test -overlay": how to delete files where Wine 8 does not know
//	                      FileDispositionInformationEx, as Windows before 1607 did not
package main

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log"
	"os"
	"path/filepath"
)

func main() {
	folder, err := filepath.Abs(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	dll := library("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036")
	if err := errors.Join(overlay(folder, os.Args[2]), os.WriteFile(filepath.Join(folder, "bcryptprimitives.dll"), dll, 0o600)); err != nil {
		log.Fatal(err)
	}
}

// overlay makes the standard library take Wine's answer for that of an old Windows, which knows
// only the older way to delete files.
func overlay(folder, goroot string) error {
	original := filepath.Join(goroot, "src/internal/syscall/windows/at_windows.go")
	text, err := os.ReadFile(original)
	if err != nil {
		return err
	}
	old := []byte("case STATUS_INVALID_INFO_CLASS,")
	if !bytes.Contains(text, old) {
		return errors.New("at_windows.go has changed: look how it deletes files now")
	}
	const notImplemented = "case NTStatus(0xC0000002), STATUS_INVALID_INFO_CLASS,"
	replacement := filepath.Join(folder, "at_windows.go")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{original: replacement}})
	return errors.Join(err,
		os.WriteFile(replacement, bytes.Replace(text, old, []byte(notImplemented), 1), 0o600),
		os.WriteFile(filepath.Join(folder, "overlay.json"), list, 0o600))
}

// page is the alignment of sections in the file and in memory, so that offsets from the
// beginning are the same in both.
const page = 0x1000

// exportDirectory is IMAGE_EXPORT_DIRECTORY.
type exportDirectory struct {
	Characteristics, TimeDateStamp               uint32
	MajorVersion, MinorVersion                   uint16
	Name, Base, NumberOfFunctions, NumberOfNames uint32
	Functions, Names, Ordinals                   uint32
}

// library returns a library with one function, which is the function target of another library.
func library(name, function, target string) []byte {
	const tables = page + 40 // behind the exportDirectory
	nameAt := uint32(tables + 4 + 4 + 2)
	functionAt := nameAt + uint32(len(name)) + 1
	targetAt := functionAt + uint32(len(function)) + 1
	exports := encode(
		exportDirectory{Name: nameAt, Base: 1, NumberOfFunctions: 1, NumberOfNames: 1, Functions: tables, Names: tables + 4, Ordinals: tables + 8},
		targetAt, functionAt, uint16(0), []byte(name+"\x00"+function+"\x00"+target+"\x00"))
	size := uint32(len(exports))

	optional := pe.OptionalHeader64{
		Magic: 0x20B, ImageBase: 0x180000000, SectionAlignment: page, FileAlignment: page,
		MajorOperatingSystemVersion: 6, MajorSubsystemVersion: 6, SizeOfImage: 2 * page, SizeOfHeaders: page,
		Subsystem: pe.IMAGE_SUBSYSTEM_WINDOWS_CUI, NumberOfRvaAndSizes: 16,
		DllCharacteristics: pe.IMAGE_DLLCHARACTERISTICS_NX_COMPAT | pe.IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE,
	}
	optional.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT] = pe.DataDirectory{VirtualAddress: page, Size: size}
	file := make([]byte, 2*page)
	copy(file, encode(
		[60]byte{'M', 'Z'}, uint32(64), [4]byte{'P', 'E'},
		pe.FileHeader{
			Machine: pe.IMAGE_FILE_MACHINE_AMD64, NumberOfSections: 1, SizeOfOptionalHeader: uint16(binary.Size(optional)),
			Characteristics: pe.IMAGE_FILE_EXECUTABLE_IMAGE | pe.IMAGE_FILE_LARGE_ADDRESS_AWARE | pe.IMAGE_FILE_DLL,
		},
		optional,
		pe.SectionHeader32{
			Name: [8]uint8{'.', 'e', 'd', 'a', 't', 'a'}, VirtualSize: size, VirtualAddress: page,
			SizeOfRawData: page, PointerToRawData: page, Characteristics: pe.IMAGE_SCN_CNT_INITIALIZED_DATA | pe.IMAGE_SCN_MEM_READ,
		}))
	copy(file[page:], exports)
	return file
}

// encode returns values of fixed size one after another.
func encode(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			log.Fatal(err)
		}
	}
	return b.Bytes()
}
